// The action of a compile: the Remote Execution API's own Action, built the
// same way by foldd and by foldc. Its digest is the cache's key and the
// report's action_digest.
//
// Everything that can change the bytes is in it: the model, the descriptor,
// the tables, the options (defaults written out, lists sorted), the compiler's
// id, the timeout and the salt. What cannot is not: file names of clients,
// --report, -o, progress, time, host.
#ifndef FOLD_COMPILER_API_ACTION_H_
#define FOLD_COMPILER_API_ACTION_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proto/build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "proto/foldd/v1/compiler_service.pb.h"

namespace fold {

// Names of the files in the action's input root and of its outputs.
inline constexpr std::string_view kModelFile = "model.onnx";
inline constexpr std::string_view kTargetFile = "target.binpb";
inline constexpr std::string_view kEncodingsFile = "encodings";
inline constexpr std::string_view kArtifactFile = "artifact.fold";
inline constexpr std::string_view kReportFile = "report.binpb";
// Wall time that a compile may take, where nobody says otherwise.
inline constexpr int64_t kDefaultTimeoutSeconds = 600;

using Digest = build::bazel::remote::execution::v2::Digest;

struct ActionInputs {
  Digest model;
  foldd::v1::TargetDescriptor target;
  foldd::v1::CompileOptions options;
  Digest encodings;  // hash empty: no table
  // Files with external data, by their plain names beside the model.
  std::map<std::string, Digest> external_files;
  std::string compiler_id;
  // Whole milliseconds that the compile may run.
  int64_t timeout_milliseconds = kDefaultTimeoutSeconds * 1000;
  std::string salt;
};

struct CompileAction {
  build::bazel::remote::execution::v2::Command command;
  build::bazel::remote::execution::v2::Directory input_root;
  build::bazel::remote::execution::v2::Action action;
  std::string target_bytes;  // content of kTargetFile
  Digest digest;             // of `action`
};

// Whether a file with external data may have this name beside the others: it
// is plain, and none of an action's own files is called so.
bool IsExternalFileName(std::string_view name);

CompileAction BuildAction(const ActionInputs& inputs);

// The name of `bytes`.
Digest DigestOf(std::string_view bytes);
// "blobs/HASH/SIZE", as the Remote Execution API's resource names have it.
std::string BlobText(std::string_view hash, int64_t size_bytes);
std::string BlobText(const Digest& digest);
// The same bytes for the same message, on every machine.
std::string SerializeDeterministic(const google::protobuf::Message& message);

}  // namespace fold

#endif  // FOLD_COMPILER_API_ACTION_H_
