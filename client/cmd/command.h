// The commands of foldctl: one row a command in foldctl.cc, one file each.
#ifndef FOLD_CLIENT_CMD_COMMAND_H_
#define FOLD_CLIENT_CMD_COMMAND_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "client/client.h"
#include "compiler/api/flags.h"

namespace fold {

// The flags that every command with a server has.
struct ServerFlags {
  std::string address = "127.0.0.1:50051";
  int64_t timeout_seconds = 0;  // 0: none
  std::string instance;         // empty: the default one
  std::string traceparent;      // empty: that of the environment, if any
};

std::vector<Flag> ServerFlagTable(ServerFlags* flags);

// Makes the calls of `client` part of the trace of --traceparent, or of the
// environment's TRACEPARENT if that is one. Returns what is wrong, or "".
std::string SetTrace(const ServerFlags& flags, Client* client);

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
int CacheCommand(std::span<const std::string> arguments);
// Subcommands of `cache` with a file of their own.
int CacheExplainCommand(std::span<const std::string> arguments);
int CacheBackupCommand(std::span<const std::string> arguments);
int CacheRestoreCommand(std::span<const std::string> arguments);

}  // namespace fold

#endif  // FOLD_CLIENT_CMD_COMMAND_H_
