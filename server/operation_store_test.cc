#include "server/operation_store.h"

#include <sqlite3.h>

#include <ctime>
#include <fstream>

#include "gtest/gtest.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

class OperationStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "operation_store_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    path_ = folder + "/operations.db";
    Open();
  }
  void Open() {
    store_.reset();
    auto opened = OperationStore::Open(path_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = std::move(*opened);
  }
  static v1::OperationRecord Record(const std::string& hash, bool done = false,
                                    const std::string& instance = "") {
    v1::OperationRecord record;
    record.set_instance_name(instance);
    record.set_action_hash(hash);
    record.add_clients("ci");
    if (done) record.mutable_error()->set_code(5);
    return record;
  }
  std::string path_;
  std::unique_ptr<OperationStore> store_;
};

TEST_F(OperationStoreTest, KeepsWhatItTookThroughARestart) {
  ASSERT_TRUE(store_->Put(Record("a")).ok());
  ASSERT_TRUE(store_->Put(Record("b")).ok());
  ASSERT_TRUE(store_->Put(Record("b", true)).ok());  // in place of the first
  ASSERT_TRUE(store_->Put(Record("a", true, "team")).ok());
  Open();
  auto unfinished = store_->Unfinished();
  ASSERT_TRUE(unfinished.ok());
  ASSERT_EQ(unfinished->size(), 1u);
  EXPECT_EQ((*unfinished)[0].action_hash(), "a");
  EXPECT_EQ((*unfinished)[0].clients(0), "ci");
  EXPECT_EQ(store_->Get("", "b")->error().code(), 5);
  EXPECT_EQ(store_->Get("team", "a")->error().code(), 5);
  EXPECT_TRUE(absl::IsNotFound(store_->Get("team", "b").status()));
  ASSERT_TRUE(store_->Delete("", "b").ok());
  EXPECT_TRUE(absl::IsNotFound(store_->Get("", "b").status()));
}

TEST_F(OperationStoreTest, ListsNewestFirstInPages) {
  for (const char* hash : {"a", "b", "c", "d", "e"}) {
    ASSERT_TRUE(store_->Put(Record(hash, hash[0] == 'c')).ok());
  }
  ASSERT_TRUE(store_->Put(Record("other", false, "team")).ok());
  std::string seen;
  int64_t before = 0;
  int pages = 0;
  do {
    auto page = store_->List("", std::nullopt, 2, before);
    ASSERT_TRUE(page.ok());
    for (const auto& record : page->records) seen += record.action_hash();
    before = page->next;
    ++pages;
  } while (before != 0);
  EXPECT_EQ(seen, "edcba");
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(store_->List("", true, 10, 0)->records.size(), 1u);
  EXPECT_EQ(store_->List("", false, 10, 0)->records.size(), 4u);
  EXPECT_EQ(store_->List("team", false, 10, 0)->records.size(), 1u);
  EXPECT_EQ(store_->List("none", false, 10, 0)->records.size(), 0u);
}

TEST_F(OperationStoreTest, ARequestIdBelongsToItsFirstRequest) {
  auto bind = [&](const char* client, const char* content,
                  const char* instance = "") {
    return *store_->Bind(instance, client, "id-1", content, "action");
  };
  EXPECT_TRUE(bind("ci", "content").fresh);
  EXPECT_FALSE(bind("ci", "content").fresh);
  EXPECT_EQ(bind("ci", "another").content_hash, "content");
  EXPECT_FALSE(bind("ci", "another").fresh);
  // Another client's, or another instance's, is its own.
  EXPECT_TRUE(bind("fleet", "another").fresh);
  EXPECT_TRUE(bind("ci", "another", "team").fresh);
  Open();
  EXPECT_EQ(bind("ci", "another").content_hash, "content");
}

TEST_F(OperationStoreTest, SweepsWhatEndedLongAgoOrIsTooMuch) {
  for (const char* hash : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(store_->Put(Record(hash, hash[0] != 'a')).ok());
  }
  auto now = static_cast<int64_t>(std::time(nullptr));
  EXPECT_EQ(*store_->Sweep(now - 100, 100), 0);
  EXPECT_EQ(*store_->Sweep(now - 100, 2), 1);  // "b", the oldest that ended
  EXPECT_TRUE(absl::IsNotFound(store_->Get("", "b").status()));
  ASSERT_TRUE(store_->Bind("", "ci", "id", "content", "action").ok());
  EXPECT_EQ(*store_->Sweep(now + 100, 100), 2);
  // What has not ended stays, however old.
  EXPECT_TRUE(store_->Get("", "a").ok());
  EXPECT_TRUE(store_->Bind("", "ci", "id", "other", "action")->fresh);
}

TEST_F(OperationStoreTest, AnotherVersionAndADamagedFileAreRefused) {
  store_.reset();
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "PRAGMA user_version=2", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  auto newer = OperationStore::Open(path_);
  EXPECT_TRUE(absl::IsFailedPrecondition(newer.status())) << newer.status();
  std::ofstream(path_, std::ios::trunc) << std::string(8192, 'x');
  for (const char* end : {"-wal", "-shm"}) {
    std::remove((path_ + end).c_str());
  }
  auto damaged = OperationStore::Open(path_);
  EXPECT_TRUE(absl::IsDataLoss(damaged.status())) << damaged.status();
}

}  // namespace
}  // namespace fold
