#include "compiler/tools/model_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "gtest/gtest.h"

namespace fold {
namespace {

class ModelFolderTest : public testing::Test {
 protected:
  ModelFolderTest() {
    std::string pattern = testing::TempDir() + "model_folder_XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(path_ + "/" + name, std::ios::binary) << bytes;
  }
  std::string path_;
};

TEST_F(ModelFolderTest, GivesPlainFilesBesideTheModel) {
  Write("w.bin", "weights");
  Write("empty", "");
  ModelFolder folder(path_ + "/model.onnx");
  auto bytes = folder.Open("w.bin");
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(std::string(bytes->begin(), bytes->end()), "weights");
  ASSERT_TRUE(folder.Open("empty").has_value());
  EXPECT_TRUE(folder.Open("empty")->empty());
  auto digests = folder.Digests();
  ASSERT_EQ(digests.size(), 2u);
  EXPECT_EQ(digests["w.bin"].hash(), DigestOf("weights").hash());
  EXPECT_EQ(digests["w.bin"].size_bytes(), 7);
}

TEST_F(ModelFolderTest, FollowsNoPathAndNoLink) {
  Write("secret", "s");
  mkdir((path_ + "/inner").c_str(), 0700);
  ASSERT_EQ(symlink((path_ + "/secret").c_str(), (path_ + "/link").c_str()), 0);
  ASSERT_EQ(mkfifo((path_ + "/pipe").c_str(), 0600), 0);
  ModelFolder folder(path_ + "/model.onnx");
  for (const char* name : {"absent", "", ".", "..", "../secret", "./secret",
                           "inner", "inner/../secret", "link", "pipe"}) {
    EXPECT_FALSE(folder.Open(name).has_value()) << name;
  }
  EXPECT_FALSE(folder.Open(std::string_view("secret\0x", 8)).has_value());
  EXPECT_TRUE(folder.Digests().empty());
}

}  // namespace
}  // namespace fold
