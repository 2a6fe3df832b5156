#include "server/access/audit_log.h"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using Sync = AuditLog::Sync;

AuditRecord Record(const std::string& who) {
  return {std::chrono::system_clock::now(),
          who,
          "ipv4:127.0.0.1:1",
          "foldd.v1.Compiler/Compile",
          "",
          std::string(64, 'a'),
          "allowed",
          ""};
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class AuditLogTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  std::unique_ptr<AuditLog> Open() {
    auto log = AuditLog::Open(folder_, &metrics_, milliseconds(20));
    EXPECT_TRUE(log.ok()) << log.status();
    return log.ok() ? std::move(*log) : nullptr;
  }
  std::string File(int number) {
    return folder_ + "/audit-00000" + std::to_string(number) + ".jsonl";
  }
  std::string folder_ = testing::TempDir() + "audit_log_test";
  Metrics metrics_;
};

TEST_F(AuditLogTest, OneChainOverRestarts) {
  for (int start = 0; start < 3; ++start) {
    auto log = Open();
    EXPECT_EQ(log->path(), File(1));
    EXPECT_TRUE(log->Append(Record("ci")).ok());
    EXPECT_TRUE(log->Append(Record("ops"), Sync::kBeforeReturn).ok());
  }
  AuditCheck check = VerifyAuditFile(File(1));
  EXPECT_EQ(check.fault, "");
  EXPECT_EQ(check.head.lines, 7);
  EXPECT_FALSE(fs::exists(File(2)));
  EXPECT_EQ(fs::status(File(1)).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("foldd_audit_records_total{result=\"written\"} 6"));
}

TEST_F(AuditLogTest, ManyThreadsMakeOneChain) {
  {
    auto log = Open();
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          auto sync = i % 10 == 0 ? Sync::kBeforeReturn : Sync::kBatched;
          EXPECT_TRUE(log->Append(Record(std::to_string(t)), sync).ok());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  AuditCheck check = VerifyAuditFile(File(1));
  EXPECT_EQ(check.fault, "");
  EXPECT_EQ(check.head.lines, 201);
}

TEST_F(AuditLogTest, ABrokenFileIsKeptAndANewOneFollowsIt) {
  AuditHead head;
  {
    auto log = Open();
    EXPECT_TRUE(log->Append(Record("ci")).ok());
    head = log->head();
    EXPECT_TRUE(log->Append(Record("ci")).ok());
  }
  std::string torn = Read(File(1));
  torn.resize(torn.size() - 7);
  std::ofstream(File(1), std::ios::trunc | std::ios::binary) << torn;
  auto log = Open();
  EXPECT_EQ(log->path(), File(2));
  EXPECT_TRUE(log->Append(Record("ci")).ok());
  EXPECT_EQ(Read(File(1)), torn);
  EXPECT_EQ(VerifyAuditFile(File(2)).fault, "");
  std::string next = Read(File(2));
  EXPECT_THAT(next, HasSubstr("line 3: ends in the middle"));
  EXPECT_THAT(next, HasSubstr("\"follows\":\"audit-000001.jsonl\""));
  EXPECT_THAT(next, HasSubstr("\"follows_hash\":\"" + head.hash));
  EXPECT_THAT(metrics_.Text(), HasSubstr("foldd_audit_chain_breaks_total 1"));
}

// A limit on the size of files stands for a full disk: the write stops in the
// middle of a line.
TEST_F(AuditLogTest, AFullDiskLosesRecordsAndSaysHowMany) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto log = Open();
  EXPECT_TRUE(log->Append(Record("before")).ok());
  rlimit full = before;
  full.rlim_cur = fs::file_size(File(1)) + 10;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  absl::Status administers = log->Append(Record("ops"), Sync::kBeforeReturn);
  absl::Status compiles = log->Append(Record("ci"));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(administers.ok());
  EXPECT_FALSE(compiles.ok());
  EXPECT_TRUE(log->Append(Record("after"), Sync::kBeforeReturn).ok());
  AuditCheck check = VerifyAuditFile(File(1));
  EXPECT_EQ(check.fault, "");
  EXPECT_EQ(check.head.lines, 3);
  std::string text = Read(File(1));
  EXPECT_THAT(text, HasSubstr("\"lost_before\":2"));
  EXPECT_EQ(text.find("\"ops\""), std::string::npos);
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("foldd_audit_records_total{result=\"lost\"} 2"));
}

TEST_F(AuditLogTest, TwoServersDoNotShareAFolder) {
  auto log = Open();
  auto second = AuditLog::Open(folder_, &metrics_);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("locked"));
  log.reset();
  EXPECT_TRUE(AuditLog::Open(folder_, &metrics_).ok());
}

TEST_F(AuditLogTest, AFolderThatCannotBeMadeIsAnError) {
  EXPECT_FALSE(AuditLog::Open("/proc/no/folder", &metrics_).ok());
}

}  // namespace
}  // namespace fold
