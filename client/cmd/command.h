// The commands of foldctl: one row a command in foldctl.cc, one file each.
#ifndef FOLD_CLIENT_CMD_COMMAND_H_
#define FOLD_CLIENT_CMD_COMMAND_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/connection.h"
#include "compiler/api/flags.h"

namespace fold {

// The flags that every command with a server has.
struct ServerFlags {
  ConnectOptions connect;
  int64_t timeout_seconds = 0;  // 0: none
  std::string instance;         // empty: the default one
  std::string traceparent;      // empty: that of the environment, if any
};

std::vector<Flag> ServerFlagTable(ServerFlags* flags);

// A client for the flags, with the token of the environment (FOLDD_TOKEN) if
// they name no file of it, and its trace (TRACEPARENT). Returns what is wrong
// with them, or "".
std::string ConnectClient(const ServerFlags& flags,
                          std::unique_ptr<Client>* client);
// The same; null, and said: an error of usage.
std::unique_ptr<Client> OpenClient(const ServerFlags& flags);

// Says what is wrong with the line; returns the exit code for it.
int UsageError(const std::string& message);
// Says what went wrong with a call; returns its exit code.
int CallError(const ClientError& error);

// Each takes the arguments behind its name and returns the exit code.
int CompileCommand(std::span<const std::string> arguments);
int TargetsCommand(std::span<const std::string> arguments);
int ResolveCommand(std::span<const std::string> arguments);
int OperationsCommand(std::span<const std::string> arguments);
int HealthCommand(std::span<const std::string> arguments);
int InspectCommand(std::span<const std::string> arguments);
int TokenCommand(std::span<const std::string> arguments);
int AuditCommand(std::span<const std::string> arguments);
int CacheCommand(std::span<const std::string> arguments);
// Subcommands of `cache` with a file of their own.
int CacheExplainCommand(std::span<const std::string> arguments);
int CacheBackupCommand(std::span<const std::string> arguments);
int CacheRestoreCommand(std::span<const std::string> arguments);

}  // namespace fold

#endif  // FOLD_CLIENT_CMD_COMMAND_H_
