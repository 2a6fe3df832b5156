// foldctl targets: the targets that the server knows, one of them as text, or
// what is wrong with a file.
#include <cstdio>

#include "client/cmd/command.h"
#include "compiler/api/error_table.h"
#include "compiler/api/target_file.h"
#include "google/protobuf/text_format.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

int List(Client& client) {
  v1::ListTargetsResponse response;
  if (auto error = client.ListTargets(&response)) return CallError(*error);
  for (const v1::TargetDescriptor& target : response.targets()) {
    std::printf("%-24s %-12s %s\n", target.name().c_str(),
                target.architecture().c_str(),
                target.float_islands() ? "float islands" : "integer only");
  }
  return kExitDone;
}

int Print(Client& client, const std::string& name) {
  v1::GetTargetResponse response;
  if (auto error = client.GetTarget(name, &response)) return CallError(*error);
  std::string text;
  google::protobuf::TextFormat::PrintToString(response.target(), &text);
  std::fputs(text.c_str(), stdout);
  return kExitDone;
}

int Check(Client& client, const std::string& path) {
  v1::TargetDescriptor target;
  std::string fault = ReadTargetFile(path, &target);
  if (!fault.empty()) {
    std::fprintf(stderr, "foldctl: %s\n", fault.c_str());
    return kExitInput;
  }
  v1::CheckTargetResponse response;
  if (auto error = client.CheckTarget(target, &response)) {
    return CallError(*error);
  }
  for (const v1::FieldProblem& problem : response.problems()) {
    std::fprintf(stderr, "error[bad_target]: %s %s\n", problem.field().c_str(),
                 problem.message().c_str());
  }
  return response.problems().empty() ? kExitDone : kExitInput;
}

}  // namespace

int TargetsCommand(std::span<const std::string> arguments) {
  ServerFlags server;
  std::string check;
  std::vector<Flag> table = ServerFlagTable(&server);
  table.push_back({"--check", "FILE", "say what is wrong with a descriptor",
                   SetText(&check)});
  ParsedLine line = ParseLine(arguments, table);
  if (!line.error.empty()) return UsageError(line.error);
  if (line.positional.size() > 1 ||
      (!check.empty() && !line.positional.empty())) {
    return UsageError("usage: foldctl targets [NAME | --check FILE]");
  }
  std::unique_ptr<Client> client = OpenClient(server);
  if (client == nullptr) return kExitUsage;
  if (!check.empty()) return Check(*client, check);
  return line.positional.empty() ? List(*client)
                                 : Print(*client, line.positional[0]);
}

}  // namespace fold
