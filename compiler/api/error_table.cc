#include "compiler/api/error_table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "compiler/base/diagnostic.h"

namespace fold {
namespace {

// The status of a diagnostic that error_table.def does not name.
StatusCode StatusOfExitCode(int exit_code) {
  switch (exit_code) {
    case kExitUsage:
    case kExitInput:
      return StatusCode::INVALID_ARGUMENT;
    case kExitRequirement:
      return StatusCode::FAILED_PRECONDITION;
    case kExitTryAgain:
      return StatusCode::UNAVAILABLE;
    default:
      return StatusCode::INTERNAL;
  }
}

std::vector<ErrorRow> MakeTable() {
  std::vector<ErrorRow> rows = {
#define FOLD_ERROR(reason, status, exit_code, retryable, meaning) \
  {#reason, StatusCode::status, exit_code, retryable, meaning},
#include "compiler/api/error_table.def"
#undef FOLD_ERROR
  };
  const size_t own = rows.size();
  for (const DiagnosticKind& kind : DiagnosticKinds()) {
    if (kind.severity != Severity::kError) continue;
    std::string reason = ReasonOfDiagnostic(kind.name);
    bool named =
        std::any_of(rows.begin(), rows.begin() + own,
                    [&](const ErrorRow& row) { return row.reason == reason; });
    if (named) continue;
    rows.push_back({std::move(reason), StatusOfExitCode(kind.exit_code),
                    kind.exit_code, kind.exit_code == kExitTryAgain,
                    kind.meaning});
  }
  return rows;
}

constexpr std::array<std::string_view, 17> kStatusNames = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

}  // namespace

std::span<const ErrorRow> ErrorTable() {
  static const auto* const kTable = new std::vector<ErrorRow>(MakeTable());
  return *kTable;
}

const ErrorRow* FindError(std::string_view reason) {
  for (const ErrorRow& row : ErrorTable()) {
    if (row.reason == reason) return &row;
  }
  return nullptr;
}

std::string ReasonOfDiagnostic(std::string_view code) {
  std::string reason(code);
  for (char& c : reason) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return reason;
}

int ExitCodeOfStatus(StatusCode status) {
  switch (status) {
    case StatusCode::OK:
      return kExitDone;
    case StatusCode::INVALID_ARGUMENT:
    case StatusCode::NOT_FOUND:
    case StatusCode::ALREADY_EXISTS:
    case StatusCode::OUT_OF_RANGE:
      return kExitInput;
    case StatusCode::FAILED_PRECONDITION:
      return kExitRequirement;
    case StatusCode::CANCELLED:
    case StatusCode::DEADLINE_EXCEEDED:
    case StatusCode::RESOURCE_EXHAUSTED:
    case StatusCode::ABORTED:
    case StatusCode::UNAVAILABLE:
      return kExitTryAgain;
    case StatusCode::PERMISSION_DENIED:
    case StatusCode::UNAUTHENTICATED:
      return kExitAccess;
    default:
      return kExitInternal;
  }
}

std::string_view StatusCodeName(StatusCode status) {
  auto index = static_cast<size_t>(status);
  return index < kStatusNames.size() ? kStatusNames[index] : kStatusNames[2];
}

}  // namespace fold
