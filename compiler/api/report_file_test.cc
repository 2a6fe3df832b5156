#include "compiler/api/report_file.h"

#include <dirent.h>
#include <sys/stat.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;
namespace v1 = foldd::v1;

int FilesIn(const std::string& folder) {
  int count = 0;
  DIR* dir = opendir(folder.c_str());
  while (readdir(dir) != nullptr) ++count;
  closedir(dir);
  return count - 2;
}

class ReportFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "report_file_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  std::string folder_;
};

TEST(ReportJson, HasProtoNamesAndDefaults) {
  v1::CompileReport report;
  report.add_ops()->set_exactness(v1::FLOAT);
  report.add_passes()->set_name("fold");
  std::string json = ReportJson(report);
  for (const char* text :
       {"\"action_digest\": \"\"", "\"integer_only\": false",
        "\"arena_bytes_before_folding\": \"0\"",
        "\"exactness\": \"EXACTNESS_UNSPECIFIED\"", "\"exactness\": \"FLOAT\"",
        "\"fake_quant_before\": \"0\"", "\"kept\": []", "\"diagnostics\": []",
        "\"cached\": false", "\"error_steps\": \"0\"", "\"memory\": []"}) {
    EXPECT_THAT(json, HasSubstr(text));
  }
}

TEST_F(ReportFileTest, WritesWholeAndLeavesNothingElse) {
  std::string path = folder_ + "/out";
  EXPECT_EQ(WriteFileAtomically(path, "first"), "");
  EXPECT_EQ(WriteFileAtomically(path, "second"), "");
  std::string bytes;
  EXPECT_EQ(ReadWholeFile(path, 100, &bytes), "");
  EXPECT_EQ(bytes, "second");
  EXPECT_EQ(FilesIn(folder_), 1);
}

TEST_F(ReportFileTest, ReportsComeBack) {
  v1::CompileReport report;
  report.add_ops()->set_name("conv");
  report.mutable_artifact()->set_size_bytes(int64_t{1} << 40);
  report.mutable_run()->set_host("h");
  for (const char* name : {"/r.json", "/r.binpb"}) {
    v1::CompileReport again;
    EXPECT_EQ(WriteReportFile(folder_ + name, report), "");
    EXPECT_EQ(ReadReportFile(folder_ + name, &again), "");
    EXPECT_EQ(again.SerializeAsString(), report.SerializeAsString());
  }
  v1::CompileReport again;
  EXPECT_EQ(WriteFileAtomically(folder_ + "/bad.json", "[1"), "");
  EXPECT_THAT(ReadReportFile(folder_ + "/bad.json", &again),
              HasSubstr("is not a report"));
  EXPECT_THAT(ReadReportFile(folder_ + "/none.json", &again),
              HasSubstr("cannot open"));
}

TEST_F(ReportFileTest, AFailureKeepsTheOldFile) {
  EXPECT_THAT(WriteFileAtomically(folder_, "x"), HasSubstr("folder"));
  EXPECT_THAT(WriteFileAtomically(folder_ + "/no/such", "x"),
              HasSubstr("cannot create"));
  EXPECT_EQ(FilesIn(folder_), 0);
  EXPECT_THAT(WriteFileAtomically("/dev/full", "x"), HasSubstr("No space"));
  EXPECT_TRUE(IsDiskFull(WriteFileAtomically("/dev/full", "x")));
  EXPECT_FALSE(IsDiskFull(WriteFileAtomically("/none/x", "x")));
  EXPECT_FALSE(IsDiskFull(""));
}

TEST_F(ReportFileTest, ReportsAreBinaryOrJsonByName) {
  v1::CompileReport report;
  report.set_action_digest("abc");
  EXPECT_EQ(WriteReportFile(folder_ + "/r.binpb", report), "");
  EXPECT_EQ(WriteReportFile(folder_ + "/r.json", report), "");
  std::string bytes;
  ASSERT_EQ(ReadWholeFile(folder_ + "/r.binpb", 1000, &bytes), "");
  v1::CompileReport back;
  ASSERT_TRUE(back.ParseFromString(bytes));
  EXPECT_EQ(back.action_digest(), "abc");
  ASSERT_EQ(ReadWholeFile(folder_ + "/r.json", 10000, &bytes), "");
  EXPECT_EQ(bytes, ReportJson(report));
}

TEST_F(ReportFileTest, ReadingIsBounded) {
  ASSERT_EQ(WriteFileAtomically(folder_ + "/f", "0123456789"), "");
  std::string bytes;
  EXPECT_THAT(ReadWholeFile(folder_ + "/f", 9, &bytes), HasSubstr("larger"));
  EXPECT_THAT(ReadWholeFile("/dev/zero", 1000, &bytes), HasSubstr("larger"));
  EXPECT_THAT(ReadWholeFile(folder_ + "/g", 9, &bytes), HasSubstr("cannot"));
}

}  // namespace
}  // namespace fold
