// The one table: diagnostic <-> gRPC status <-> ErrorInfo reason <-> exit code
// <-> retryable. foldc, foldctl and foldd all read it.
#ifndef FOLD_COMPILER_API_ERROR_TABLE_H_
#define FOLD_COMPILER_API_ERROR_TABLE_H_

#include <span>
#include <string>
#include <string_view>

namespace fold {

// ErrorInfo.domain of every error of the service.
inline constexpr std::string_view kErrorDomain = "foldd";

// Exit codes of all programs (design.md section 1).
enum ExitCode : int {
  kExitDone = 0,
  kExitUsage = 2,
  kExitInput = 3,
  kExitRequirement = 4,
  kExitInternal = 5,
  kExitTryAgain = 6,
  kExitAccess = 7,
  kExitDifferent = 8,
};

// gRPC's status codes, as numbers: this room knows no gRPC.
enum class StatusCode : int {
  OK = 0,
  CANCELLED = 1,
  UNKNOWN = 2,
  INVALID_ARGUMENT = 3,
  DEADLINE_EXCEEDED = 4,
  NOT_FOUND = 5,
  ALREADY_EXISTS = 6,
  PERMISSION_DENIED = 7,
  RESOURCE_EXHAUSTED = 8,
  FAILED_PRECONDITION = 9,
  ABORTED = 10,
  OUT_OF_RANGE = 11,
  UNIMPLEMENTED = 12,
  INTERNAL = 13,
  UNAVAILABLE = 14,
  DATA_LOSS = 15,
  UNAUTHENTICATED = 16,
};

struct ErrorRow {
  std::string reason;  // ErrorInfo.reason
  StatusCode status;
  int exit_code;
  bool retryable;
  std::string meaning;
};

// All rows: the service's, then the compiler's diagnostics of severity error.
std::span<const ErrorRow> ErrorTable();
// The row of a reason, nullptr if there is none.
const ErrorRow* FindError(std::string_view reason);
// The reason of a diagnostic's code as the user sees it: "bad_scale" gives
// "BAD_SCALE".
std::string ReasonOfDiagnostic(std::string_view code);
// The exit code for a status that came without an ErrorInfo of ours, e.g. from
// a proxy.
int ExitCodeOfStatus(StatusCode status);
// "INVALID_ARGUMENT"; "UNKNOWN" for a number that is none of them.
std::string_view StatusCodeName(StatusCode status);

}  // namespace fold

#endif  // FOLD_COMPILER_API_ERROR_TABLE_H_
