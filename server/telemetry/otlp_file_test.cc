#include "server/telemetry/otlp_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"

namespace fold {
namespace {

constexpr std::chrono::milliseconds kLimit{1000};
using Kind = SendResult::Kind;

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class OtlpFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "otlp_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/traces.jsonl";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<OtlpFileSender> Open(int64_t limit) {
    auto sender = OtlpFileSender::Open(path_, limit);
    EXPECT_TRUE(sender.ok()) << sender.status();
    return sender.ok() ? std::move(*sender) : nullptr;
  }

  std::string folder_, path_;
};

TEST_F(OtlpFileTest, WritesALineARequestBehindWhatIsThere) {
  {
    auto sender = Open(1000);
    EXPECT_EQ(sender->Send("{1}", kLimit).kind, Kind::kSent);
    EXPECT_EQ(sender->Send("{2}", kLimit).kind, Kind::kSent);
  }
  EXPECT_EQ(Open(1000)->Send("{3}", kLimit).kind, Kind::kSent);
  EXPECT_EQ(ReadText(path_), "{1}\n{2}\n{3}\n");
}

TEST_F(OtlpFileTest, BothFilesStayBounded) {
  auto sender = Open(20);
  for (int i = 10; i < 40; ++i) {
    EXPECT_EQ(sender->Send("{" + std::to_string(i) + "}", kLimit).kind,
              Kind::kSent);
    EXPECT_LE(ReadText(path_).size(), 20u);
    EXPECT_LE(ReadText(path_ + ".1").size(), 20u);
  }
  EXPECT_EQ(ReadText(path_ + ".1") + ReadText(path_),
            "{34}\n{35}\n{36}\n{37}\n{38}\n{39}\n");
  // One that is larger than the limit has a file of its own.
  EXPECT_EQ(sender->Send(std::string(50, 'x'), kLimit).kind, Kind::kSent);
  EXPECT_EQ(ReadText(path_).size(), 51u);
}

TEST_F(OtlpFileTest, AFileThatSomebodyMovedAwayIsMadeAnewAtTheNextTurn) {
  auto sender = Open(8);
  EXPECT_EQ(sender->Send("{1}", kLimit).kind, Kind::kSent);
  std::filesystem::remove(path_);
  EXPECT_EQ(sender->Send("{123456}", kLimit).kind, Kind::kSent);
  EXPECT_EQ(ReadText(path_), "{123456}\n");
}

TEST_F(OtlpFileTest, AFullDiskLosesTheLineAndIsSaid) {
  auto full = OtlpFileSender::Open("/dev/full", 1000);
  ASSERT_TRUE(full.ok()) << full.status();
  SendResult result = (*full)->Send("{1}", kLimit);
  EXPECT_EQ(result.kind, Kind::kRefused);
  EXPECT_NE(result.why.find("No space"), std::string::npos) << result.why;
}

TEST_F(OtlpFileTest, AFolderThatIsNotThereIsAnError) {
  auto sender = OtlpFileSender::Open(folder_ + "/no/file", 1000);
  EXPECT_FALSE(sender.ok());
}

TEST_F(OtlpFileTest, TracesAreNotForEverybody) {
  auto sender = Open(1000);
  struct stat status;
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07, 0u);
}

}  // namespace
}  // namespace fold
