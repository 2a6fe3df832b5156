// foldctl health: whether the server takes work.
#include <cstdio>

#include "client/cmd/command.h"
#include "compiler/api/error_table.h"

namespace fold {

int HealthCommand(std::span<const std::string> arguments) {
  ServerFlags server;
  server.timeout_seconds = 10;
  ParsedLine line = ParseLine(arguments, ServerFlagTable(&server));
  if (!line.error.empty()) return UsageError(line.error);
  if (!line.positional.empty()) {
    return UsageError("usage: foldctl health [--server A]");
  }
  std::unique_ptr<Client> client = OpenClient(server);
  if (client == nullptr) return kExitUsage;
  std::string serving;
  if (auto error = client->Health(&serving)) return CallError(*error);
  std::printf("%s\n", serving.c_str());
  return serving == "SERVING" ? kExitDone : kExitTryAgain;
}

}  // namespace fold
