#include "server/access/audit_chain.h"

#include <fstream>
#include <vector>

#include "compiler/api/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;

class AuditChainTest : public testing::Test {
 protected:
  void SetUp() override {
    AuditHead head;
    lines_ = {AuditStartLine({{}, "", "", "the first file"}, &head)};
    for (int i = 0; i < 5; ++i) {
      AuditRecord record;
      record.principal = "p" + std::to_string(i);
      record.method = "m";
      record.decision = "allowed";
      lines_.push_back(AuditRecordLine(record, 0, &head));
    }
    head_ = head;
  }
  AuditCheck Verify(const std::vector<std::string>& lines) {
    std::ofstream file(path_, std::ios::trunc | std::ios::binary);
    for (const std::string& line : lines) file << line;
    file.close();
    return VerifyAuditFile(path_);
  }
  std::string path_ = testing::TempDir() + "audit_chain_test.jsonl";
  std::vector<std::string> lines_;
  AuditHead head_;
};

TEST_F(AuditChainTest, AWholeChainIsGood) {
  AuditCheck check = Verify(lines_);
  EXPECT_EQ(check.fault, "");
  EXPECT_EQ(check.head.lines, 6);
  EXPECT_EQ(check.head.hash, head_.hash);
  std::string last = lines_.back();
  last.pop_back();
  EXPECT_EQ(check.head.hash, Sha256Hex(last));
}

// Every byte of the file but the last line's, which only the head protects.
TEST_F(AuditChainTest, EveryChangedByteIsFound) {
  for (size_t line = 0; line + 1 < lines_.size(); ++line) {
    for (size_t at = 0; at < lines_[line].size(); ++at) {
      auto changed = lines_;
      changed[line][at] = changed[line][at] == 'x' ? 'y' : 'x';
      EXPECT_NE(Verify(changed).fault, "") << line << " " << at;
    }
  }
}

TEST_F(AuditChainTest, WhatAnIntruderMayTry) {
  auto removed = lines_;
  removed.erase(removed.begin() + 2);
  EXPECT_THAT(Verify(removed).fault, HasSubstr("line 3: has another sequence"));
  auto swapped = lines_;
  std::swap(swapped[2], swapped[3]);
  EXPECT_THAT(Verify(swapped).fault, HasSubstr("line 3"));
  auto doubled = lines_;
  doubled.insert(doubled.begin() + 3, doubled[2]);
  EXPECT_THAT(Verify(doubled).fault, HasSubstr("line 4"));
  // A forged line with the right number and the right hash before it.
  AuditHead head;
  (void)AuditStartLine({{}, "", "", "the first file"}, &head);
  auto forged = lines_;
  AuditRecord record;
  record.principal = "somebody else";
  forged[1] = AuditRecordLine(record, 0, &head);
  EXPECT_THAT(Verify(forged).fault,
              HasSubstr("line 3: does not follow the line before"));
  auto beheaded = lines_;
  beheaded.erase(beheaded.begin());
  EXPECT_NE(Verify(beheaded).fault, "");
  auto torn = lines_;
  torn.back().resize(10);
  EXPECT_THAT(Verify(torn).fault, HasSubstr("line 6: ends in the middle"));
  EXPECT_THAT(Verify({}).fault, HasSubstr("line 1: is missing"));
  EXPECT_THAT(VerifyAuditFile("/no/such/file").fault, HasSubstr("cannot open"));
  // Cut at a line's end: only the head tells.
  auto cut = lines_;
  cut.pop_back();
  AuditCheck check = Verify(cut);
  EXPECT_EQ(check.fault, "");
  EXPECT_NE(check.head.hash, head_.hash);
}

TEST_F(AuditChainTest, WhatCallersChooseStaysInItsLine) {
  AuditRecord record;
  record.principal = std::string(100'000, '\n') + "\xff";
  record.method = "a\",\"decision\":\"allowed";
  std::string line = AuditRecordLine(record, 3, &head_);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_LT(line.size(), 3000u);
  EXPECT_THAT(line, HasSubstr("\"lost_before\":3"));
  lines_.push_back(line);
  EXPECT_EQ(Verify(lines_).fault, "");
}

}  // namespace
}  // namespace fold
