// Diagnostics: what the user must read. A diagnostic is registered in
// diagnostic_kinds.def; code that finds a fault adds one to a Diagnostics sink
// and returns failure to its caller. Nothing here exits or throws.
#ifndef FOLD_COMPILER_BASE_DIAGNOSTIC_H_
#define FOLD_COMPILER_BASE_DIAGNOSTIC_H_

#include <span>
#include <string>
#include <vector>

namespace fold {

enum class Severity { kNote, kWarning, kError };

enum class DiagnosticCode {
#define DIAGNOSTIC(code, severity, exit_code, meaning) code,
#include "compiler/base/diagnostic_kinds.def"
#undef DIAGNOSTIC
};

// The registered facts of a code.
struct DiagnosticKind {
  DiagnosticCode code;
  const char* name;  // as users see it, e.g. "bad_scale"
  Severity severity;
  int exit_code;
  const char* meaning;
};

// All rows of diagnostic_kinds.def, in order of DiagnosticCode.
std::span<const DiagnosticKind> DiagnosticKinds();
const DiagnosticKind& KindOf(DiagnosticCode code);
// "note", "warning" or "error".
const char* SeverityName(Severity severity);

struct Diagnostic {
  DiagnosticCode code;
  // Says what is wrong and what to change, without the node's name.
  std::string message;
  // The ONNX node, tensor, input or field at fault; empty if none.
  std::string node;

  Severity severity() const { return KindOf(code).severity; }
};

// "error[bad_scale]: node 'q1': scale is 0; ..." on one line.
std::string FormatDiagnostic(const Diagnostic& diagnostic);

// Collects diagnostics in the order in which they were found.
class Diagnostics {
 public:
  // A diagnostic that says what another has said is not added again. Returns
  // false, so that `return diagnostics.Error(...)` reads well.
  bool Add(DiagnosticCode code, std::string node, std::string message);
  const std::vector<Diagnostic>& all() const { return all_; }
  bool has_error() const;
  // The exit code of the first error, 0 without one.
  int exit_code() const;

 private:
  std::vector<Diagnostic> all_;
};

}  // namespace fold

#endif  // FOLD_COMPILER_BASE_DIAGNOSTIC_H_
