// foldctl token new: a bearer token, and the row of the tokens file for it.
#include "server/access/token.h"

#include <cstdio>

#include "client/cmd/command.h"
#include "compiler/api/error_table.h"
#include "server/access/tokens_file.h"

namespace fold {
namespace {

constexpr char kUsage[] =
    "usage: foldctl token new --name NAME --role read|compile|administer "
    "[--instance NAME]... [--expires TIME|never]";

struct TokenFlags {
  TokenRow row;
  std::string role;
  std::string expires = "never";
  bool help = false;
};

std::vector<Flag> TokenFlagTable(TokenFlags* flags) {
  return {
      {"--name", "NAME", "who has it, in logs and quotas",
       SetText(&flags->row.principal.name)},
      {"--role", "ROLE", "read, compile or administer", SetText(&flags->role)},
      {"--instance", "NAME",
       "an instance that it may use; again for more; '*': all [the default "
       "one, '']",
       [flags](std::string_view name) {
         flags->row.principal.instances.emplace_back(name);
         return name == kAllInstances || IsInstanceName(name)
                    ? std::string()
                    : "'" + std::string(name) + "' is no instance's name";
       }},
      {"--expires", "TIME", "as 2027-01-01T00:00:00Z, or never [never]",
       SetText(&flags->expires)},
      {"--help", "", "print this", SetSwitch(&flags->help)},
  };
}

// What is wrong with the flags, or "".
std::string Finish(TokenFlags* flags) {
  TokenRow& row = flags->row;
  if (!IsPrincipalName(row.principal.name)) {
    return "--name: must be 1 to 128 printable characters without blanks";
  }
  std::optional<Role> role = ParseRole(flags->role);
  if (!role) return "--role: is none of read, compile, administer";
  row.principal.role = *role;
  if (row.principal.instances.empty()) row.principal.instances = {""};
  if (!ParseExpiry(flags->expires, &row.expires)) {
    return "--expires: must be a time as 2027-01-01T00:00:00Z, or never";
  }
  return "";
}

}  // namespace

int TokenCommand(std::span<const std::string> arguments) {
  TokenFlags flags;
  std::vector<Flag> table = TokenFlagTable(&flags);
  ParsedLine line = ParseLine(arguments, table);
  if (flags.help) {
    std::printf("%s\n%s", kUsage, FlagHelp(table).c_str());
    return kExitDone;
  }
  if (!line.error.empty()) return UsageError(line.error);
  if (line.positional.size() != 1 || line.positional[0] != "new") {
    return UsageError(kUsage);
  }
  std::string error = Finish(&flags);
  if (!error.empty()) return UsageError(error);
  std::string token = NewToken();
  if (token.empty()) {
    std::fprintf(stderr, "foldctl: the system has no randomness\n");
    return kExitInternal;
  }
  flags.row.sha256 = TokenHash(token);
  // The token alone on stdout, so that it can go into a file unseen.
  std::printf("%s\n", token.c_str());
  std::fprintf(stderr,
               "The token is on stdout, once: it cannot be had again.\n"
               "For \"tokens\" in the server's tokens_file:\n%s\n",
               TokenRowJson(flags.row).c_str());
  return kExitDone;
}

}  // namespace fold
