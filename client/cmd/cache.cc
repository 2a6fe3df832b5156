// foldctl cache: looks after a server's cache.
#include <cstdio>

#include "client/cmd/cache_call.h"
#include "client/cmd/command.h"
#include "compiler/api/error_table.h"
#include "compiler/api/sha256.h"
#include "compiler/base/nearest_name.h"
#include "google/protobuf/util/json_util.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

// What the subcommands' lines have in common.
struct CacheLine {
  ServerFlags server;
  std::string note;
  bool blob = false;
  bool manifest = false;
  bool undo = false;
  bool all = false;
  std::string digest;  // the positional argument
};

std::vector<Flag> CacheFlagTable(CacheLine* line) {
  std::vector<Flag> table = ServerFlagTable(&line->server);
  table.push_back({"--note", "TEXT", "who or why", SetText(&line->note)});
  table.push_back({"--blob", "", "DIGEST is of a blob, not of an action",
                   SetSwitch(&line->blob)});
  table.push_back({"--manifest", "", "DIGEST is of a model's list",
                   SetSwitch(&line->manifest)});
  table.push_back(
      {"--undo", "", "take the recall back", SetSwitch(&line->undo)});
  table.push_back(
      {"--all", "", "everything in the namespace", SetSwitch(&line->all)});
  return table;
}

// "" or what is wrong. `wants` a digest: 0 no, 1 yes, 2 as the caller likes.
std::string ReadCacheLine(std::span<const std::string> arguments, int wants,
                          CacheLine* line) {
  ParsedLine parsed = ParseLine(arguments, CacheFlagTable(line));
  if (!parsed.error.empty()) return parsed.error;
  if (parsed.positional.size() > (wants > 0 ? 1U : 0U)) {
    return "what is '" + parsed.positional.back() + "'?";
  }
  if (!parsed.positional.empty()) line->digest = parsed.positional[0];
  if (wants == 1 && line->digest.empty()) return "give a digest";
  if (!line->digest.empty() && !IsSha256Hex(line->digest)) {
    return "'" + line->digest + "' is no digest: 64 hexadecimal digits";
  }
  return "";
}

template <typename Request>
Request NewRequest(const CacheLine& line) {
  Request request;
  request.set_instance_name(line.server.instance);
  if constexpr (requires { request.mutable_entry(); }) {
    if (!line.digest.empty()) {
      v1::CacheEntry* entry = request.mutable_entry();
      entry->set_kind(line.blob       ? v1::CacheEntry::BLOB
                      : line.manifest ? v1::CacheEntry::MANIFEST
                                      : v1::CacheEntry::ACTION);
      entry->set_hash(line.digest);
    }
  }
  return request;
}

// Makes the call, and prints the answer as JSON.
template <typename Request, typename Response>
int CallAndPrint(const CacheLine& line,
                 grpc::Status (v1::Cache::Stub::*method)(grpc::ClientContext*,
                                                         const Request&,
                                                         Response*),
                 const Request& request, Response* response) {
  if (auto error = CallCache(line.server, method, request, response)) {
    return CallError(*error);
  }
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(*response, &json, options);
  std::fputs(json.c_str(), stdout);
  return kExitDone;
}

int Stats(std::span<const std::string> arguments) {
  CacheLine line;
  std::string error = ReadCacheLine(arguments, 0, &line);
  if (!error.empty()) return UsageError(error);
  v1::GetCacheStatsResponse response;
  return CallAndPrint(line, &v1::Cache::Stub::GetCacheStats,
                      NewRequest<v1::GetCacheStatsRequest>(line), &response);
}

int Pin(std::span<const std::string> arguments) {
  CacheLine line;
  std::string error = ReadCacheLine(arguments, 1, &line);
  if (!error.empty()) return UsageError(error);
  auto request = NewRequest<v1::PinEntryRequest>(line);
  request.set_note(line.note);
  v1::PinEntryResponse response;
  return CallAndPrint(line, &v1::Cache::Stub::PinEntry, request, &response);
}

int Unpin(std::span<const std::string> arguments) {
  CacheLine line;
  std::string error = ReadCacheLine(arguments, 1, &line);
  if (!error.empty()) return UsageError(error);
  v1::UnpinEntryResponse response;
  return CallAndPrint(line, &v1::Cache::Stub::UnpinEntry,
                      NewRequest<v1::UnpinEntryRequest>(line), &response);
}

int Purge(std::span<const std::string> arguments) {
  CacheLine line;
  std::string error = ReadCacheLine(arguments, 2, &line);
  if (error.empty() && line.all == !line.digest.empty()) {
    error = "give a digest or --all";
  }
  if (!error.empty()) return UsageError(error);
  auto request = NewRequest<v1::PurgeEntriesRequest>(line);
  if (line.all) request.set_everything(true);
  v1::PurgeEntriesResponse response;
  return CallAndPrint(line, &v1::Cache::Stub::PurgeEntries, request, &response);
}

int Recall(std::span<const std::string> arguments) {
  CacheLine line;
  std::string error = ReadCacheLine(arguments, 1, &line);
  if (!error.empty()) return UsageError(error);
  auto request = NewRequest<v1::RecallEntryRequest>(line);
  request.set_note(line.note);
  request.set_undo(line.undo);
  v1::RecallEntryResponse response;
  return CallAndPrint(line, &v1::Cache::Stub::RecallEntry, request, &response);
}

int Verify(std::span<const std::string> arguments) {
  CacheLine line;
  std::string error = ReadCacheLine(arguments, 2, &line);
  if (!error.empty()) return UsageError(error);
  v1::VerifyEntriesResponse response;
  int code =
      CallAndPrint(line, &v1::Cache::Stub::VerifyEntries,
                   NewRequest<v1::VerifyEntriesRequest>(line), &response);
  if (code != kExitDone) return code;
  if (response.wrong_size() > 0) return kExitDifferent;
  return response.complete() ? kExitDone : kExitTryAgain;
}

struct Subcommand {
  std::string_view name;
  std::string_view line;
  std::string_view help;
  int (*run)(std::span<const std::string> arguments);
};

constexpr Subcommand kSubcommands[] = {
    {"stats", "stats", "what the cache holds", Stats},
    {"pin", "pin DIGEST [--blob] [--note TEXT]",
     "keep an action with its blobs, or a blob", Pin},
    {"unpin", "unpin DIGEST [--blob]", "take a pin back", Unpin},
    {"purge", "purge DIGEST [--blob] | --all", "forget entries now", Purge},
    {"recall", "recall DIGEST [--blob] [--note TEXT] [--undo]",
     "never give it out again", Recall},
    {"verify", "verify [DIGEST [--blob]]", "read and compare hashes", Verify},
    {"explain", "explain MODEL --target T [flags] | DIGEST",
     "why an action is answered or not", CacheExplainCommand},
    {"backup", "backup --data DIR -o FOLDER", "copy a server's cache, checked",
     CacheBackupCommand},
    {"restore", "restore FOLDER --data DIR", "and back, into an empty DIR",
     CacheRestoreCommand},
};

std::string CacheHelp() {
  std::string help = "usage: foldctl cache COMMAND [--server HOST:PORT]\n";
  for (const Subcommand& command : kSubcommands) {
    std::string row = "  " + std::string(command.line);
    row.resize(std::max<size_t>(row.size() + 2, 56), ' ');
    help += row + std::string(command.help) + "\n";
  }
  CacheLine line;
  return help + FlagHelp(CacheFlagTable(&line));
}

}  // namespace

int CacheCommand(std::span<const std::string> arguments) {
  if (arguments.empty()) return UsageError("no command\n" + CacheHelp());
  if (arguments[0] == "--help" || arguments[0] == "help") {
    std::fputs(CacheHelp().c_str(), stdout);
    return kExitDone;
  }
  std::vector<std::string_view> names;
  for (const Subcommand& command : kSubcommands) {
    if (command.name == arguments[0]) return command.run(arguments.subspan(1));
    names.push_back(command.name);
  }
  return UsageError("no command 'cache " + arguments[0] + "'" +
                    DidYouMean(arguments[0], names));
}

}  // namespace fold
