#include "server/cache/backup.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/cache/disk_layout.h"
#include "server/cache/disk_store.h"
#include "server/cache/recall_list.h"
#include "server/cache/verifying_store.h"

namespace fold {
namespace {

namespace fs = std::filesystem;

Bytes Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

class BackupTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "backup_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    source_ = folder_ + "/source";
    copy_ = folder_ + "/copy";
  }
  std::unique_ptr<DiskStore> Open(const std::string& root) {
    auto disk = DiskStore::Open({root, 1 << 24, 0});
    EXPECT_TRUE(disk.ok()) << disk.status();
    return disk.ok() ? std::move(*disk) : nullptr;
  }
  // A blob, a large blob, an action with a pin, a recall.
  void Fill(DiskStore* disk) {
    VerifyingStore store(disk);
    ASSERT_TRUE(store.Put(small_, Text("small")).ok());
    ASSERT_TRUE(store.Put(large_, Text(std::string(3 << 20, 'x'))).ok());
    ASSERT_TRUE(store.Put(action_, Text("result")).ok());
    ASSERT_TRUE(disk->Pin(action_, {action_, small_}, "release").ok());
    ASSERT_TRUE(RecallList(disk->root() + "/recalls").Add(large_, "bad").ok());
  }
  std::string folder_, source_, copy_;
  const Key small_ = {Space::kBlob, Sha256Hex("small"), "team"};
  const Key large_ = {Space::kBlob, Sha256Hex(std::string(3 << 20, 'x'))};
  const Key action_ = {Space::kAction, Sha256Hex("k"), "team"};
};

TEST_F(BackupTest, ThereAndBackWhileTheServerRuns) {
  auto disk = Open(source_);
  Fill(disk.get());
  CopyCounts counts;
  ASSERT_TRUE(CopyCache(source_, copy_, &counts).ok());
  EXPECT_EQ(counts.entries, 3);
  EXPECT_EQ(counts.marks, 2);
  EXPECT_TRUE(counts.wrong.empty());
  disk.reset();
  fs::remove_all(source_);
  CopyCounts back;
  ASSERT_TRUE(CopyCache(copy_, source_, &back).ok());
  EXPECT_EQ(back.entries, 3);
  EXPECT_EQ(back.bytes, counts.bytes);
  disk = Open(source_);
  VerifyingStore store(disk.get());
  EXPECT_EQ(**store.Get(small_), "small");
  EXPECT_EQ((*store.Get(large_))->size(), size_t{3} << 20);
  EXPECT_EQ(**store.Get(action_), "result");
  ASSERT_EQ(disk->Pins().size(), 1u);
  EXPECT_TRUE(absl::IsFailedPrecondition(disk->Remove(small_)));
  EXPECT_EQ(RecallList(source_ + "/recalls").Find(large_), "bad");
}

TEST_F(BackupTest, WhatIsWrongIsLeftOut) {
  {
    auto disk = Open(source_);
    Fill(disk.get());
  }
  std::fstream(PathOfEntry(source_, large_)) << "?";
  std::fstream(PathOfEntry(source_, action_)) << "?";
  CopyCounts counts;
  ASSERT_TRUE(CopyCache(source_, copy_, &counts).ok());
  EXPECT_EQ(counts.entries, 1);
  EXPECT_EQ(counts.wrong.size(), 2u);
  auto disk = Open(copy_);
  EXPECT_TRUE(disk->Touch(small_));
  EXPECT_FALSE(disk->Touch(large_));
  EXPECT_FALSE(disk->Touch(action_));
}

TEST_F(BackupTest, TheOrderOfUseIsKept) {
  {
    auto disk = Open(source_);
    for (const Key& key : {large_, action_, small_}) {
      std::string text = key == small_    ? "small"
                         : key == action_ ? "result"
                                          : std::string(3 << 20, 'x');
      ASSERT_TRUE(disk->Put(key, Text(text)).ok());
    }
    VerifyingStore store(disk.get());
    ASSERT_TRUE(store.Put(action_, Text("result")).ok());
  }
  timespec old[2] = {{100, 0}, {100, 0}};
  utimensat(AT_FDCWD, PathOfEntry(source_, small_).c_str(), old, 0);
  CopyCounts counts;
  ASSERT_TRUE(CopyCache(source_, copy_, &counts).ok());
  EXPECT_EQ(Open(copy_)->Entries()[0].key, small_);
}

TEST_F(BackupTest, OnlyIntoNothingAndOnlyOfAStore) {
  CopyCounts counts;
  EXPECT_TRUE(absl::IsFailedPrecondition(CopyCache(source_, copy_, &counts)));
  { Open(source_); }
  fs::create_directories(copy_);
  std::ofstream(copy_ + "/mine") << "x";
  EXPECT_TRUE(absl::IsFailedPrecondition(CopyCache(source_, copy_, &counts)));
  std::ofstream(source_ + "/format") << "foldd-cache 1\n";
  EXPECT_TRUE(absl::IsFailedPrecondition(
      CopyCache(source_, folder_ + "/other", &counts)));
}

TEST_F(BackupTest, ACopyThatBrokeOffIsRefused) {
  {
    auto disk = Open(source_);
    Fill(disk.get());
  }
  // A folder stands where a file must go.
  fs::create_directories(copy_);
  ASSERT_TRUE(BeginCopy(copy_).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(
      DiskStore::Open({copy_, 1 << 24, 0}).status()));
  CopyCounts counts;
  EXPECT_TRUE(absl::IsFailedPrecondition(
      CopyCache(copy_, folder_ + "/other", &counts)));
}

}  // namespace
}  // namespace fold
