// foldctl audit verify: whether a file of the audit log is whole.
#include <cstdio>

#include "client/cmd/command.h"
#include "compiler/api/error_table.h"
#include "server/access/audit_chain.h"

namespace fold {

int AuditCommand(std::span<const std::string> arguments) {
  if (arguments.size() != 2 || arguments[0] != "verify") {
    return UsageError("usage: foldctl audit verify FILE");
  }
  AuditCheck check = VerifyAuditFile(arguments[1]);
  if (check.fault.empty()) {
    std::printf("good: %lld lines, head %s\n",
                static_cast<long long>(check.head.lines),
                check.head.hash.c_str());
    return kExitDone;
  }
  std::fprintf(stderr, "foldctl: %s: broken: %s (%lld lines before are good)\n",
               arguments[1].c_str(), check.fault.c_str(),
               static_cast<long long>(check.head.lines));
  return kExitDifferent;
}

}  // namespace fold
