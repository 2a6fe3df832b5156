// The program itself: exit codes and what it prints.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "runtime/format/test_artifact.h"
#include "runtime/tools/npz.h"

namespace fold::tools {
namespace {

struct Result {
  int code;
  std::string text;
};

Result Foldrun(const std::string& words) {
  const char* folder = std::getenv("FOLD_BIN");
  const std::string command = std::string(folder != nullptr ? folder : ".") +
                              "/foldrun " + words + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, ""};
  std::string text;
  char part[256];
  while (std::fgets(part, sizeof(part), pipe) != nullptr) text += part;
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

class FoldrunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const format::TestFile file = format::SmallNetwork().Finish();
    std::ofstream(artifact_, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()),
               static_cast<std::streamsize>(file.size()));
    Array x;
    x.descr = "<f4";
    x.shape = {1, 3, 4, 5};
    x.bytes.assign(240, 0x3f);
    std::string error;
    ASSERT_TRUE(WriteNpz(inputs_, {{"x", x}}, &error)) << error;
  }

  std::string artifact_ = testing::TempDir() + "foldrun_test.fold";
  std::string inputs_ = testing::TempDir() + "foldrun_in.npz";
  std::string outputs_ = testing::TempDir() + "foldrun_out.npz";
};

TEST_F(FoldrunTest, RunsAndTaps) {
  std::string error;
  Result r =
      Foldrun(artifact_ + " --inputs " + inputs_ + " --outputs " + outputs_);
  ASSERT_EQ(r.code, 0) << r.text;
  Arrays arrays;
  ASSERT_TRUE(ReadNpz(outputs_, &arrays, &error)) << error;
  EXPECT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays.at("y").shape, (std::vector<int64_t>{1, 6, 4, 5}));
  r = Foldrun("--taps --inputs=" + inputs_ + " --outputs=" + outputs_ + " " +
              artifact_ + " --threads 2");
  ASSERT_EQ(r.code, 0) << r.text;
  Arrays tapped;
  ASSERT_TRUE(ReadNpz(outputs_, &tapped, &error)) << error;
  EXPECT_EQ(tapped.size(), 3u);
  EXPECT_EQ(tapped.at("conv").shape, (std::vector<int64_t>{1, 6, 4, 5}));
  EXPECT_EQ(tapped.at("y").bytes, arrays.at("y").bytes);
}

TEST_F(FoldrunTest, Measures) {
  const Result r = Foldrun(artifact_ + " --bench 0.01 --threads 2 --json");
  ASSERT_EQ(r.code, 0) << r.text;
  EXPECT_EQ(r.text.find("{\"min_ms\": "), 0u) << r.text;
  EXPECT_NE(r.text.find("\"median_ms\": "), std::string::npos);
  EXPECT_NE(r.text.find("\"threads\": 2"), std::string::npos);
}

TEST_F(FoldrunTest, PrintsTheSignature) {
  const Result r = Foldrun(artifact_ + " --info");
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.text.find("input x: <f4 (1, 3, 4, 5)"), std::string::npos);
  EXPECT_NE(r.text.find("output y: <f4 (1, 6, 4, 5)"), std::string::npos);
}

TEST_F(FoldrunTest, ExitCodes) {
  EXPECT_EQ(Foldrun("--help").code, 0);
  EXPECT_EQ(Foldrun("").code, 2);
  EXPECT_EQ(Foldrun(artifact_).code, 2);
  EXPECT_EQ(Foldrun(artifact_ + " --no-such-option").code, 2);
  EXPECT_EQ(Foldrun(artifact_ + " --bench nothing").code, 2);
  EXPECT_EQ(Foldrun(artifact_ + " --outputs " + outputs_).code, 2);
  EXPECT_EQ(Foldrun(inputs_ + " --bench 0.01").code, 3);
  const Result r =
      Foldrun(artifact_ + " --inputs " + artifact_ + " --outputs " + outputs_);
  EXPECT_EQ(r.code, 3) << r.text;
  EXPECT_EQ(r.text.find("foldrun: "), 0u);
  EXPECT_EQ(Foldrun(artifact_ + " --inputs " + inputs_ +
                    " --outputs /no/such/folder/out.npz")
                .code,
            5);
}

}  // namespace
}  // namespace fold::tools
