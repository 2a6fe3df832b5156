// foldctl resolve: the manifest of the artifact that a device should run.
#include <cstdio>

#include "client/cmd/command.h"
#include "compiler/api/error_table.h"
#include "compiler/api/report_file.h"
#include "compiler/api/sha256.h"
#include "google/protobuf/util/json_util.h"

namespace fold {
namespace {

constexpr size_t kMaxModelBytes = size_t{2147483647};

}  // namespace

int ResolveCommand(std::span<const std::string> arguments) {
  ServerFlags server;
  foldd::v1::ResolveRequest request;
  std::vector<Flag> table = ServerFlagTable(&server);
  table.push_back({"--compatible", "TEXT",
                   "what the device is; repeated, most specific first",
                   [&](std::string_view text) -> std::string {
                     request.add_compatible(std::string(text));
                     return "";
                   }});
  ParsedLine line = ParseLine(arguments, table);
  if (!line.error.empty()) return UsageError(line.error);
  if (line.positional.size() != 1 || request.compatible().empty()) {
    return UsageError(
        "usage: foldctl resolve MODEL|DIGEST --compatible TEXT [--server A]");
  }
  if (IsSha256Hex(line.positional[0])) {
    request.set_model_digest(line.positional[0]);
  } else {
    std::string model;
    std::string error =
        ReadWholeFile(line.positional[0], kMaxModelBytes, &model);
    if (!error.empty()) {
      std::fprintf(stderr, "foldctl: %s\n", error.c_str());
      return kExitInput;
    }
    request.set_model_digest(Sha256Hex(model));
  }
  std::unique_ptr<Client> client = OpenClient(server);
  if (client == nullptr) return kExitUsage;
  foldd::v1::ResolveResponse response;
  if (auto error = client->Resolve(request, &response))
    return CallError(*error);
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(response.manifest(), &json,
                                                    options);
  std::fputs(json.c_str(), stdout);
  return kExitDone;
}

}  // namespace fold
