#include "client/cmd/command.h"

#include <cstdio>
#include <cstdlib>

#include "compiler/api/error_table.h"

namespace fold {

std::vector<Flag> ServerFlagTable(ServerFlags* flags) {
  return {
      {"--server", "HOST:PORT", "the server [127.0.0.1:50051]",
       SetText(&flags->address)},
      {"--timeout", "SECONDS", "deadline of the call; 0: none [0]",
       SetInteger(&flags->timeout_seconds, 0, 1 << 20)},
      {"--instance", "NAME", "the namespace on the server [the default one]",
       SetText(&flags->instance)},
      {"--traceparent", "T", "the trace of the call [$TRACEPARENT]",
       SetText(&flags->traceparent)},
  };
}

std::string SetTrace(const ServerFlags& flags, Client* client) {
  if (flags.traceparent.empty()) {
    const char* inherited = std::getenv("TRACEPARENT");
    if (inherited != nullptr) (void)client->SetTraceparent(inherited);
    return "";
  }
  if (client->SetTraceparent(flags.traceparent)) return "";
  return "--traceparent: '" + flags.traceparent + "' is no traceparent";
}

int UsageError(const std::string& message) {
  std::fprintf(stderr, "foldctl: %s\n", message.c_str());
  return kExitUsage;
}

int CallError(const ClientError& error) {
  std::fprintf(stderr, "%s\n", FormatError(error).c_str());
  return error.exit_code;
}

}  // namespace fold
