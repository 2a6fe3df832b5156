#include "server/reproducer_folder.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace v1 = foldd::v1;

class ReproducerFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    job_ = testing::TempDir() + "crashed_XXXXXX";
    ASSERT_NE(mkdtemp(job_.data()), nullptr);
    folder_ = job_ + "_bundles";
  }
  std::unique_ptr<ReproducerFolder> Open(ReproducerLimits limits) {
    auto opened = ReproducerFolder::Open(
        folder_, limits,
        [this](const auto& digest, const auto& path, const auto&) {
          published_ = digest;
          path_ = path;
        });
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  std::string Keep(ReproducerFolder* bundles, const std::string& model) {
    std::ofstream(job_ + "/model.onnx") << model;
    v1::Reproducer about;
    about.mutable_exit()->set_cpu_microseconds(++runs_);
    auto kept = bundles->Keep(job_, ListInputs(job_), about);
    return kept.ok() ? *kept : std::string(kept.status().message());
  }
  bool Has(const std::string& digest) const {
    return fs::exists(folder_ + "/" + digest + ".tar");
  }
  size_t Files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), {}));
  }

  std::string job_, folder_, published_, path_;
  int runs_ = 0;
};

TEST_F(ReproducerFolderTest, KeepsABundleUnderItsDigest) {
  auto bundles = Open({});
  std::string digest = Keep(bundles.get(), "crash");
  ASSERT_TRUE(Has(digest)) << digest;
  EXPECT_EQ(published_, digest);
  std::ifstream file(path_, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_EQ(Sha256Hex(bytes.str()), digest);
  EXPECT_EQ(bundles->bytes(), static_cast<int64_t>(bytes.str().size()));
  // The same crash again, at another time: the same bundle.
  EXPECT_EQ(Keep(bundles.get(), "crash"), digest);
  EXPECT_EQ(bundles->count(), 1);
  EXPECT_EQ(Files(), 1u);
}

TEST_F(ReproducerFolderTest, TheOldestGoesFirst) {
  auto bundles = Open({2, 1 << 30});
  std::string one = Keep(bundles.get(), "1");
  std::string two = Keep(bundles.get(), "2");
  std::string three = Keep(bundles.get(), "3");
  EXPECT_FALSE(Has(one));
  EXPECT_TRUE(Has(two));
  EXPECT_TRUE(Has(three));
  EXPECT_EQ(bundles->count(), 2);
  // Again after a restart, with less room.
  bundles.reset();
  bundles = Open({1, 1 << 30});
  EXPECT_EQ(bundles->count(), 1);
  EXPECT_EQ(Files(), 1u);
}

TEST_F(ReproducerFolderTest, BytesAreBounded) {
  auto bundles = Open({16, 100'000});
  std::string one = Keep(bundles.get(), std::string(40'000, '1'));
  std::string two = Keep(bundles.get(), std::string(40'000, '2'));
  EXPECT_TRUE(Has(one));
  std::string three = Keep(bundles.get(), std::string(40'000, '3'));
  EXPECT_FALSE(Has(one));
  EXPECT_TRUE(Has(three));
  EXPECT_LE(bundles->bytes(), 100'000);
  // One that is too large has its description without the model.
  std::string large = Keep(bundles.get(), std::string(200'000, '4'));
  EXPECT_TRUE(Has(large)) << large;
  EXPECT_LE(bundles->bytes(), 100'000);
}

TEST_F(ReproducerFolderTest, HalfWrittenFilesAreSwept) {
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/7.part") << "half";
  auto bundles = Open({});
  EXPECT_EQ(bundles->count(), 0);
  EXPECT_EQ(Files(), 0u);
}

TEST_F(ReproducerFolderTest, ZeroKeepsNone) {
  auto bundles = Open({0, 1 << 30});
  EXPECT_FALSE(Has(Keep(bundles.get(), "crash")));
  EXPECT_EQ(Files(), 0u);
}

}  // namespace
}  // namespace fold
