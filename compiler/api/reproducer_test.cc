#include "compiler/api/reproducer.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/api/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;
namespace v1 = foldd::v1;

std::string NewFolder(const char* name) {
  std::string folder = testing::TempDir() + name + "_XXXXXX";
  return mkdtemp(folder.data()) != nullptr ? folder : "";
}

void Write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class ReproducerTest : public testing::Test {
 protected:
  void SetUp() override {
    job_ = NewFolder("job");
    out_ = NewFolder("out");
    bundle_ = out_ + "/b.tar";
    Write(job_ + "/model.onnx", "a model");
    Write(job_ + "/weights/größe.bin", std::string(3 << 20, 'w'));
    about_.set_compiler_id("compiler-1");
    about_.add_arguments("foldc");
    about_.mutable_exit()->set_signal(11);
    about_.add_diagnostics()->set_code("bad_scale");
  }
  std::string Unpack(v1::Reproducer* about) {
    folder_ = NewFolder("unpacked");
    return UnpackReproducer(bundle_, folder_, about);
  }
  // A bundle with one entry beside a description that lists nothing.
  void WriteEntry(const std::string& name, const char* link = nullptr,
                  const std::string& description = "{}") {
    archive* to = archive_write_new();
    archive_write_set_format_pax_restricted(to);
    archive_write_open_filename(to, bundle_.c_str());
    auto add = [&](const std::string& path, const std::string& bytes,
                   const char* target) {
      archive_entry* entry = archive_entry_new();
      archive_entry_set_pathname(entry, path.c_str());
      archive_entry_set_perm(entry, 0600);
      archive_entry_set_filetype(entry,
                                 target != nullptr ? AE_IFLNK : AE_IFREG);
      if (target != nullptr) archive_entry_set_symlink(entry, target);
      archive_entry_set_size(
          entry, target != nullptr ? 0 : static_cast<int64_t>(bytes.size()));
      archive_write_header(to, entry);
      if (target == nullptr) archive_write_data(to, bytes.data(), bytes.size());
      archive_entry_free(entry);
    };
    if (!name.empty()) add(name, "bytes", link);
    if (!description.empty()) add("reproducer.json", description, nullptr);
    archive_write_close(to);
    archive_write_free(to);
  }

  std::string job_, out_, bundle_, folder_;
  v1::Reproducer about_;
};

TEST_F(ReproducerTest, ComesBackWhole) {
  auto inputs = ListInputs(job_);
  ASSERT_EQ(inputs.size(), 2u);
  Write(job_ + "/stdout", "made by the job");
  ASSERT_EQ(WriteReproducer(job_, inputs, 1 << 30, about_, bundle_), "");
  v1::Reproducer about;
  ASSERT_EQ(Unpack(&about), "");
  EXPECT_EQ(about.compiler_id(), "compiler-1");
  EXPECT_EQ(about.exit().signal(), 11);
  EXPECT_EQ(about.diagnostics(0).code(), "bad_scale");
  ASSERT_EQ(about.files_size(), 2);
  EXPECT_EQ(about.files(0).path(), "model.onnx");
  EXPECT_EQ(about.files(0).digest(), Sha256Hex("a model"));
  EXPECT_EQ(Read(folder_ + "/model.onnx"), "a model");
  EXPECT_EQ(Read(folder_ + "/weights/größe.bin").size(), size_t{3} << 20);
  EXPECT_FALSE(fs::exists(folder_ + "/stdout"));
}

TEST_F(ReproducerTest, TheSameCrashGivesTheSameBytes) {
  auto inputs = ListInputs(job_);
  ASSERT_EQ(WriteReproducer(job_, inputs, 1 << 30, about_, bundle_), "");
  ASSERT_EQ(WriteReproducer(job_, inputs, 1 << 30, about_, out_ + "/c.tar"),
            "");
  EXPECT_EQ(Read(bundle_), Read(out_ + "/c.tar"));
}

TEST_F(ReproducerTest, WhatTheJobPutThereInsteadStaysOut) {
  std::string secret = out_ + "/secret";
  Write(secret, "a model");  // of the same size
  auto inputs = ListInputs(job_);
  fs::remove(job_ + "/model.onnx");
  ASSERT_EQ(symlink(secret.c_str(), (job_ + "/model.onnx").c_str()), 0);
  ASSERT_EQ(WriteReproducer(job_, inputs, 1 << 30, about_, bundle_), "");
  v1::Reproducer about;
  ASSERT_EQ(Unpack(&about), "");
  EXPECT_THAT(about.left_out(), ElementsAre("model.onnx"));
  EXPECT_FALSE(fs::exists(folder_ + "/model.onnx"));
}

TEST_F(ReproducerTest, InputsBeyondTheLimitAreNamed) {
  auto inputs = ListInputs(job_);
  ASSERT_EQ(WriteReproducer(job_, inputs, 1 << 20, about_, bundle_), "");
  v1::Reproducer about;
  ASSERT_EQ(Unpack(&about), "");
  EXPECT_THAT(about.left_out(), ElementsAre("weights/größe.bin"));
  EXPECT_EQ(about.files_size(), 1);
}

TEST_F(ReproducerTest, UnsafeNamesAreRefused) {
  v1::Reproducer about;
  for (const char* name :
       {"inputs/../../escaped", "inputs//escaped", "inputs/./x", "/escaped",
        "../escaped", "escaped", "inputs/", "inputs/a/../b"}) {
    WriteEntry(name);
    EXPECT_NE(Unpack(&about), "") << name;
  }
  WriteEntry("inputs/link", "/etc/passwd");
  EXPECT_THAT(Unpack(&about), HasSubstr("no plain file"));
  EXPECT_FALSE(fs::exists(testing::TempDir() + "escaped"));
  EXPECT_TRUE(IsSafePath("a/b.onnx"));
  EXPECT_TRUE(IsSafePath("..a"));
  EXPECT_FALSE(IsSafePath(""));
  EXPECT_FALSE(IsSafePath("a\n"));
  EXPECT_FALSE(IsSafePath("a/"));
  EXPECT_FALSE(IsSafePath(std::string(4096, 'a')));
}

TEST_F(ReproducerTest, DamageIsFound) {
  v1::Reproducer about;
  WriteEntry("inputs/unlisted");
  EXPECT_THAT(Unpack(&about), HasSubstr("does not list"));
  WriteEntry("", nullptr, "{\"files\":[{\"path\":\"model.onnx\"}]}");
  EXPECT_THAT(Unpack(&about), HasSubstr("is missing"));
  WriteEntry("inputs/m", nullptr,
             "{\"files\":[{\"path\":\"m\",\"size_bytes\":\"5\"}]}");
  EXPECT_THAT(Unpack(&about), HasSubstr("is damaged"));
  WriteEntry("", nullptr, "no JSON");
  EXPECT_THAT(Unpack(&about), HasSubstr("cannot be read"));
  WriteEntry("inputs/m", nullptr, "");
  EXPECT_THAT(Unpack(&about), HasSubstr("no reproducer bundle"));
  Write(bundle_, "no tar file at all");
  EXPECT_NE(Unpack(&about), "");
  EXPECT_NE(UnpackReproducer("/no/such/file", folder_, &about), "");
  // Cut at any place.
  about_.clear_diagnostics();
  ASSERT_EQ(
      WriteReproducer(job_, ListInputs(job_), 1 << 20, about_, out_ + "/whole"),
      "");
  std::string whole = Read(out_ + "/whole");
  for (size_t size = 0; size < whole.size() - 1024; size += 512) {
    Write(bundle_, whole.substr(0, size));
    EXPECT_NE(Unpack(&about), "") << size;
  }
}

}  // namespace
}  // namespace fold
