#include "compiler/api/error_table.h"

#include <cctype>
#include <set>

#include "compiler/base/diagnostic.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

TEST(ErrorTable, ReasonsAreUniqueAndUpperCase) {
  std::set<std::string> seen;
  for (const ErrorRow& row : ErrorTable()) {
    EXPECT_TRUE(seen.insert(row.reason).second) << row.reason;
    EXPECT_FALSE(row.meaning.empty()) << row.reason;
    EXPECT_LE(row.reason.size(), 63u);
    for (char c : row.reason) {
      EXPECT_TRUE(std::isupper(c) || std::isdigit(c) || c == '_') << row.reason;
    }
  }
}

TEST(ErrorTable, EveryErrorOfTheCompilerHasARowWithItsExitCode) {
  int errors = 0;
  for (const DiagnosticKind& kind : DiagnosticKinds()) {
    if (kind.severity != Severity::kError) continue;
    ++errors;
    const ErrorRow* row = FindError(ReasonOfDiagnostic(kind.name));
    ASSERT_NE(row, nullptr) << kind.name;
    EXPECT_EQ(row->exit_code, kind.exit_code) << kind.name;
  }
  EXPECT_GT(errors, 10);
}

TEST(ErrorTable, ExitCodesAndRetriesAgreeWithTheStatus) {
  for (const ErrorRow& row : ErrorTable()) {
    EXPECT_NE(row.status, StatusCode::OK) << row.reason;
    EXPECT_GE(row.exit_code, kExitUsage) << row.reason;
    EXPECT_LE(row.exit_code, kExitDifferent) << row.reason;
    // A retry helps exactly where the exit code says "try again".
    // A quota is the caller's own: a retry helps later, and is not ours to
    // make.
    if (row.reason == "QUOTA_EXCEEDED") continue;
    EXPECT_EQ(row.retryable, row.exit_code == kExitTryAgain) << row.reason;
  }
}

TEST(ErrorTable, KnowsTheStatusOfSomeReasons) {
  EXPECT_EQ(FindError("UNKNOWN_TARGET")->status, StatusCode::NOT_FOUND);
  EXPECT_EQ(FindError("BAD_SCALE")->status, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FindError("NOT_EXACT")->status, StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(FindError("NOT_EXACT")->exit_code, kExitRequirement);
  EXPECT_EQ(FindError("GRAPH_BROKEN")->status, StatusCode::INTERNAL);
  EXPECT_EQ(FindError("FLOAT_ISLAND"), nullptr);  // a note, not an error
}

TEST(ExitCodeOfStatus, CoversStatusesFromElsewhere) {
  EXPECT_EQ(ExitCodeOfStatus(StatusCode::OK), 0);
  EXPECT_EQ(ExitCodeOfStatus(StatusCode::UNAVAILABLE), kExitTryAgain);
  EXPECT_EQ(ExitCodeOfStatus(StatusCode::UNAUTHENTICATED), kExitAccess);
  EXPECT_EQ(ExitCodeOfStatus(StatusCode::UNKNOWN), kExitInternal);
  EXPECT_EQ(StatusCodeName(StatusCode::NOT_FOUND), "NOT_FOUND");
  EXPECT_EQ(StatusCodeName(static_cast<StatusCode>(99)), "UNKNOWN");
}

}  // namespace
}  // namespace fold
