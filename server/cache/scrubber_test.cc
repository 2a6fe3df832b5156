#include "server/cache/scrubber.h"

#include <atomic>
#include <fstream>
#include <thread>

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/cache/disk_layout.h"
#include "server/cache/verifying_store.h"

namespace fold {
namespace {

Bytes Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

class ScrubberTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "scrubber_XXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
    auto disk = DiskStore::Open({root_, 1 << 24, 0});
    ASSERT_TRUE(disk.ok());
    disk_ = std::move(*disk);
  }
  Key Put(Space space, const std::string& text, const std::string& instance) {
    VerifyingStore store(disk_.get());
    Key key = {space, Sha256Hex(text), instance};
    EXPECT_TRUE(store.Put(key, Text(text)).ok());
    return key;
  }
  void Damage(const Key& key) {
    std::fstream file(PathOfEntry(root_, key));
    file.seekp(70);
    file << "?";
  }
  absl::Status Check(const Key& key) {
    return CheckEntry(disk_.get(), key, [](int64_t) { return true; });
  }
  std::string root_;
  std::unique_ptr<DiskStore> disk_;
};

TEST_F(ScrubberTest, ChecksAnEntryOfEverySpace) {
  for (Space space : kSpaces) {
    Key key = Put(space, std::string(200, 'x'), "team");
    EXPECT_TRUE(Check(key).ok());
    Damage(key);
    EXPECT_TRUE(absl::IsDataLoss(Check(key)));
    EXPECT_TRUE(absl::IsNotFound(Check(key)));
  }
  EXPECT_EQ(disk_->quarantine().Items().size(), 3u);
}

TEST_F(ScrubberTest, ACheckIsNoUse) {
  Key first = Put(Space::kBlob, "first", "");
  Put(Space::kBlob, "second", "");
  EXPECT_TRUE(Check(first).ok());
  EXPECT_EQ(disk_->Entries()[0].key, first);  // still the least recently used
}

TEST_F(ScrubberTest, ACheckCanBeStopped) {
  Key key = Put(Space::kBlob, std::string(2 << 20, 'x'), "");
  EXPECT_TRUE(absl::IsCancelled(
      CheckEntry(disk_.get(), key, [](int64_t) { return false; })));
}

TEST_F(ScrubberTest, FindsRotInTheBackground) {
  for (int i = 0; i < 20; ++i) {
    Put(Space::kBlob, std::string(100 + i, 'x'), "");
  }
  Key rotten = Put(Space::kAction, std::string(200, 'y'), "");
  Damage(rotten);
  std::atomic<int> right{0}, wrong{0};
  Scrubber scrubber(disk_.get(), {1 << 30, 3600},
                    [&](bool good) { (good ? right : wrong)++; });
  for (int i = 0; i < 2000 && scrubber.passes() == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(scrubber.passes(), 1);
  EXPECT_EQ(right, 20);
  EXPECT_EQ(wrong, 1);
  EXPECT_FALSE(disk_->Touch(rotten));
}

// A rate of one byte a second would take days; the end comes at once.
TEST_F(ScrubberTest, StopsInTheMidstOfAPause) {
  Put(Space::kBlob, std::string(200'000, 'x'), "");
  auto start = std::chrono::steady_clock::now();
  {
    Scrubber scrubber(disk_.get(), {1, 3600}, [](bool) {});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(ScrubberTest, NoRateIsNoScrub) {
  Put(Space::kBlob, "x", "");
  Scrubber scrubber(disk_.get(), {0, 1}, [](bool) { FAIL(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(scrubber.passes(), 0);
}

}  // namespace
}  // namespace fold
