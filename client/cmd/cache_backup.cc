// foldctl cache backup and restore: copies of a data folder's cache on this
// machine, whether a server uses it or not.
#include <cstdio>

#include "client/cmd/command.h"
#include "compiler/api/error_table.h"
#include "server/cache/backup.h"

namespace fold {
namespace {

int Copy(const std::string& from, const std::string& to) {
  CopyCounts counts;
  absl::Status status = CopyCache(from, to, &counts);
  for (const std::string& name : counts.wrong) {
    std::fprintf(stderr, "foldctl: left out, its bytes are wrong: %s\n",
                 name.c_str());
  }
  if (!status.ok()) {
    std::fprintf(stderr, "foldctl: %s\n",
                 std::string(status.message()).c_str());
    return absl::IsFailedPrecondition(status) ? kExitRequirement
                                              : kExitInternal;
  }
  std::printf("%lld entries, %lld bytes, %lld marks\n",
              static_cast<long long>(counts.entries),
              static_cast<long long>(counts.bytes),
              static_cast<long long>(counts.marks));
  return counts.wrong.empty() ? kExitDone : kExitDifferent;
}

}  // namespace

int CacheBackupCommand(std::span<const std::string> arguments) {
  std::string data, output;
  const Flag table[] = {
      {"--data", "DIR", "the server's data folder", SetText(&data)},
      {"-o", "FOLDER", "where the copy goes; new or empty", SetText(&output)}};
  ParsedLine line = ParseLine(arguments, table);
  if (!line.error.empty()) return UsageError(line.error);
  if (!line.positional.empty() || data.empty() || output.empty()) {
    return UsageError("usage: foldctl cache backup --data DIR -o FOLDER");
  }
  return Copy(data + "/cache", output);
}

int CacheRestoreCommand(std::span<const std::string> arguments) {
  std::string data;
  const Flag table[] = {
      {"--data", "DIR", "the data folder of a server to be", SetText(&data)}};
  ParsedLine line = ParseLine(arguments, table);
  if (!line.error.empty()) return UsageError(line.error);
  if (line.positional.size() != 1 || data.empty()) {
    return UsageError("usage: foldctl cache restore FOLDER --data DIR");
  }
  return Copy(line.positional[0], data + "/cache");
}

}  // namespace fold
