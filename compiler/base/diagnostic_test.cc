#include "compiler/base/diagnostic.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace fold {
namespace {

TEST(DiagnosticKinds, EachRowSitsAtItsCodeAndHasOneName) {
  std::set<std::string> names;
  for (const DiagnosticKind& kind : DiagnosticKinds()) {
    EXPECT_EQ(&KindOf(kind.code), &kind);
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_EQ(kind.severity == Severity::kError, kind.exit_code != 0)
        << kind.name;
  }
}

TEST(Diagnostics, FirstErrorDecidesTheExitCode) {
  Diagnostics sink;
  sink.Add(DiagnosticCode::float_island, "softmax", "evaluated in double");
  EXPECT_FALSE(sink.has_error());
  EXPECT_EQ(sink.exit_code(), 0);
  sink.Add(DiagnosticCode::not_integer_only, "softmax", "stays in float");
  sink.Add(DiagnosticCode::internal, "", "later");
  EXPECT_TRUE(sink.has_error());
  EXPECT_EQ(sink.exit_code(), 4);
}

TEST(FormatDiagnostic, NamesSeverityCodeAndNode) {
  EXPECT_EQ(FormatDiagnostic({DiagnosticCode::bad_scale, "scale is 0", "q1"}),
            "error[bad_scale]: 'q1': scale is 0");
  EXPECT_EQ(FormatDiagnostic({DiagnosticCode::internal, "oops", ""}),
            "error[internal]: oops");
}

}  // namespace
}  // namespace fold
