#include "compiler/base/diagnostic.h"

#include <algorithm>
#include <utility>

namespace fold {
namespace {

constexpr DiagnosticKind kKinds[] = {
#define DIAGNOSTIC(code, severity, exit_code, meaning) \
  {DiagnosticCode::code, #code, Severity::severity, exit_code, meaning},
#include "compiler/base/diagnostic_kinds.def"
#undef DIAGNOSTIC
};

}  // namespace

std::span<const DiagnosticKind> DiagnosticKinds() { return kKinds; }

const DiagnosticKind& KindOf(DiagnosticCode code) {
  return kKinds[static_cast<int>(code)];
}

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "error";
}

std::string FormatDiagnostic(const Diagnostic& diagnostic) {
  const DiagnosticKind& kind = KindOf(diagnostic.code);
  std::string text = SeverityName(kind.severity);
  text += std::string("[") + kind.name + "]: ";
  if (!diagnostic.node.empty()) text += "'" + diagnostic.node + "': ";
  return text + diagnostic.message;
}

bool Diagnostics::Add(DiagnosticCode code, std::string node,
                      std::string message) {
  const bool known =
      std::any_of(all_.begin(), all_.end(), [&](const Diagnostic& d) {
        return d.code == code && d.node == node && d.message == message;
      });
  if (!known) all_.push_back({code, std::move(message), std::move(node)});
  return false;
}

bool Diagnostics::has_error() const {
  for (const Diagnostic& d : all_) {
    if (d.severity() == Severity::kError) return true;
  }
  return false;
}

int Diagnostics::exit_code() const {
  for (const Diagnostic& d : all_) {
    if (d.severity() == Severity::kError) return KindOf(d.code).exit_code;
  }
  return 0;
}

}  // namespace fold
