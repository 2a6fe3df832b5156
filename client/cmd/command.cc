#include "client/cmd/command.h"

#include <cstdio>
#include <cstdlib>

#include "compiler/api/error_table.h"

namespace fold {

std::vector<Flag> ServerFlagTable(ServerFlags* flags) {
  return {
      {"--server", "ADDRESS",
       "[grpc://|grpcs://]HOST:PORT; without a scheme TLS off loopback "
       "[127.0.0.1:50051]",
       SetText(&flags->connect.address)},
      {"--tls-ca", "FILE", "PEM: trust these authorities [the system's]",
       SetText(&flags->connect.ca_file)},
      {"--tls-certificate", "FILE", "PEM: the client's own certificate",
       SetText(&flags->connect.certificate_file)},
      {"--tls-key", "FILE", "PEM: its key", SetText(&flags->connect.key_file)},
      {"--token-file", "FILE", "a bearer token [FOLDD_TOKEN's value]",
       SetText(&flags->connect.token_file)},
      {"--token-in-plaintext", "", "send it off loopback without TLS too",
       SetSwitch(&flags->connect.token_in_plaintext)},
      {"--timeout", "SECONDS", "deadline of the call; 0: none [0]",
       SetInteger(&flags->timeout_seconds, 0, 1 << 20)},
      {"--instance", "NAME", "the namespace on the server [the default one]",
       SetText(&flags->instance)},
      {"--traceparent", "T", "the trace of the call [$TRACEPARENT]",
       SetText(&flags->traceparent)},
  };
}

namespace {

// Makes the calls of `client` part of the trace of --traceparent, or of the
// environment's TRACEPARENT if that is one. Returns what is wrong, or "".
std::string SetTrace(const ServerFlags& flags, Client* client) {
  if (flags.traceparent.empty()) {
    const char* inherited = std::getenv("TRACEPARENT");
    if (inherited != nullptr) (void)client->SetTraceparent(inherited);
    return "";
  }
  if (client->SetTraceparent(flags.traceparent)) return "";
  return "--traceparent: '" + flags.traceparent + "' is no traceparent";
}

}  // namespace

std::string ConnectClient(const ServerFlags& flags,
                          std::unique_ptr<Client>* client) {
  ConnectOptions options = flags.connect;
  const char* token = std::getenv("FOLDD_TOKEN");
  if (token != nullptr) options.token = token;
  std::shared_ptr<grpc::Channel> channel;
  std::string error = MakeChannel(options, &channel);
  if (error.empty()) {
    *client = std::make_unique<Client>(std::move(channel),
                                       flags.timeout_seconds * 1000);
    error = SetTrace(flags, client->get());
  }
  return error;
}

std::unique_ptr<Client> OpenClient(const ServerFlags& flags) {
  std::unique_ptr<Client> client;
  std::string error = ConnectClient(flags, &client);
  if (error.empty()) return client;
  (void)UsageError(error);
  return nullptr;
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
