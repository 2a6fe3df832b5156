// foldctl: the client for people and CI.
#include <signal.h>

#include <cstdio>
#include <string>
#include <vector>

#include "client/cmd/command.h"
#include "compiler/api/error_table.h"
#include "compiler/api/explain.h"
#include "compiler/base/nearest_name.h"

namespace {

int ExplainCommand(std::span<const std::string> arguments) {
  return fold::ExplainMain(arguments, "foldctl");
}

struct Command {
  std::string_view name;
  std::string_view line;
  std::string_view help;
  int (*run)(std::span<const std::string> arguments);
};

constexpr Command kCommands[] = {
    {"compile", "compile MODEL --target T -o FILE", "compile on a server",
     fold::CompileCommand},
    {"targets", "targets [NAME | --check FILE]",
     "list targets, print one, check a descriptor", fold::TargetsCommand},
    {"operations", "operations list|get|wait|cancel|delete",
     "long work: what compile --detach began", fold::OperationsCommand},
    {"resolve", "resolve MODEL|DIGEST --compatible TEXT",
     "find the artifact for a device", fold::ResolveCommand},
    {"explain", "explain NODE|TENSOR|OP... --report FILE",
     "tell what became of it", ExplainCommand},
    {"inspect", "inspect FILE", "print what an artifact holds",
     fold::InspectCommand},
    {"token", "token new --name N --role R", "make a bearer token",
     fold::TokenCommand},
    {"audit", "audit verify FILE", "check a server's audit log",
     fold::AuditCommand},
    {"cache", "cache stats|pin|unpin|purge|recall|...",
     "look after a server's cache", fold::CacheCommand},
    {"health", "health", "ask whether the server takes work",
     fold::HealthCommand},
};

std::string Help() {
  std::string help = "usage: foldctl COMMAND [--server ADDRESS] [flags]\n";
  for (const Command& command : kCommands) {
    std::string row = "  " + std::string(command.line);
    row.resize(std::max<size_t>(row.size() + 2, 46), ' ');
    help += row + std::string(command.help) + "\n";
  }
  return help;
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) return fold::UsageError("no command\n" + Help());
  if (arguments[0] == "--help" || arguments[0] == "help") {
    std::fputs(Help().c_str(), stdout);
    return fold::kExitDone;
  }
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) {
    if (command.name == arguments[0]) {
      return command.run(std::span(arguments).subspan(1));
    }
    names.push_back(command.name);
  }
  return fold::UsageError("no command '" + arguments[0] + "'" +
                          fold::DidYouMean(arguments[0], names));
}
