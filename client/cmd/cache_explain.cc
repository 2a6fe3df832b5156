// foldctl cache explain: why an action is answered from the cache or not.
#include <cstdio>

#include "client/cmd/cache_call.h"
#include "client/cmd/command.h"
#include "client/cmd/compile_inputs.h"
#include "compiler/api/action.h"
#include "compiler/api/compile_flags.h"
#include "compiler/api/error_table.h"
#include "compiler/api/sha256.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

const char* VerdictText(v1::ExplainActionResponse::Verdict verdict) {
  switch (verdict) {
    case v1::ExplainActionResponse::ANSWERED:
      return "answered from the cache";
    case v1::ExplainActionResponse::NO_ENTRY:
      return "not answered: never kept, or evicted since";
    case v1::ExplainActionResponse::MISSING_BLOB:
      return "not answered: blobs of its result are gone";
    case v1::ExplainActionResponse::RECALLED:
      return "refused: recalled";
    case v1::ExplainActionResponse::NO_RESULT:
      return "not answered: its entry is not that of a whole compile";
    default:
      return "unknown";
  }
}

void Print(const v1::ExplainActionResponse& response) {
  std::printf("action %s\n%s\n", response.action_digest().c_str(),
              VerdictText(response.verdict()));
  if (!response.recall_note().empty()) {
    std::printf("  %s\n", response.recall_note().c_str());
  }
  for (const std::string& blob : response.missing_blobs()) {
    std::printf("  missing: %s\n", blob.c_str());
  }
  for (const auto& part : response.parts()) {
    std::printf("  %s: %s\n", part.name().c_str(), part.value().c_str());
  }
  for (const auto& near : response.near()) {
    std::printf("kept for this model: %s (target %s)\n",
                near.action_digest().c_str(), near.target().c_str());
    for (const auto& one : near.differences()) {
      std::printf("  differs in %s: asked '%s', kept '%s'\n",
                  one.part().c_str(), one.asked().c_str(), one.kept().c_str());
    }
  }
}

// Of a model that travels in the request, the digest is enough.
void NameModel(v1::CompileRequest* request) {
  if (!request->has_model()) return;
  Digest digest = DigestOf(request->model());
  *request->mutable_model_digest() = digest;
}

}  // namespace

int CacheExplainCommand(std::span<const std::string> arguments) {
  CompileFlags flags;
  ServerFlags server;
  std::vector<std::string> external;
  v1::ExplainActionRequest request;
  std::vector<Flag> table = CompileFlagTable(&flags);
  for (Flag& flag : ServerFlagTable(&server)) table.push_back(std::move(flag));
  table.push_back({"--external", "FILE",
                   "a file with external data of the model; may be repeated",
                   AddText(&external)});
  ParsedLine line = ParseLine(arguments, table);
  if (!line.error.empty()) return UsageError(line.error);
  if (line.positional.size() == 1 && IsSha256Hex(line.positional[0])) {
    request.set_action_digest(line.positional[0]);
  } else {
    flags.output_path = "-";  // nothing is written
    std::string error = FinishCompileFlags(line.positional, &flags);
    if (!error.empty()) return UsageError(error);
    CompileInputs inputs;
    error = ReadCompileInputs(flags, external, &inputs);
    if (!error.empty()) {
      std::fprintf(stderr, "foldctl: %s\n", error.c_str());
      return kExitInput;
    }
    NameModel(&inputs.request);
    inputs.request.set_instance_name(server.instance);
    *request.mutable_request() = std::move(inputs.request);
  }
  request.set_instance_name(server.instance);
  v1::ExplainActionResponse response;
  if (auto error = CallCache(server, &v1::Cache::Stub::ExplainAction, request,
                             &response)) {
    return CallError(*error);
  }
  Print(response);
  return kExitDone;
}

}  // namespace fold
