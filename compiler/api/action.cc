#include "compiler/api/action.h"

#include <algorithm>
#include <set>

#include "compiler/api/compile_flags.h"
#include "compiler/api/convert.h"
#include "compiler/api/fork_server.h"
#include "compiler/api/sha256.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
namespace reapi = build::bazel::remote::execution::v2;

std::string ShapeWord(const v1::InputShape& shape) {
  std::string word = shape.name() + "=";
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    word += (i == 0 ? "" : ",") + std::to_string(shape.dimensions(i));
  }
  return word;
}

// The options as foldc's flags: defaults written out, lists sorted, so that
// two requests that mean the same give the same words.
std::vector<std::string> OptionWords(const v1::CompileOptions& options,
                                     v1::BoundaryIo default_io) {
  std::vector<std::string> words;
  std::vector<std::string> shapes;
  for (const auto& shape : options.shapes()) {
    shapes.push_back("--shape=" + ShapeWord(shape));
  }
  std::sort(shapes.begin(), shapes.end());
  words.insert(words.end(), shapes.begin(), shapes.end());
  auto io =
      options.io() == v1::BOUNDARY_IO_UNSPECIFIED ? default_io : options.io();
  words.push_back("--io=" + std::string(BoundaryIoWord(io)));
  std::vector<std::string> required;
  for (int value : options.require()) {
    auto requirement = static_cast<v1::Requirement>(value);
    required.push_back("--require=" +
                       std::string(RequirementWord(requirement)));
  }
  std::sort(required.begin(), required.end());
  required.erase(std::unique(required.begin(), required.end()), required.end());
  words.insert(words.end(), required.begin(), required.end());
  if (options.taps()) words.push_back("--taps");
  if (options.sheets()) words.push_back("--sheets");
  std::set<std::string> dumped(options.dump_after().begin(),
                               options.dump_after().end());
  for (const std::string& pass : dumped) {
    words.push_back("--dump-after=" + pass);
  }
  auto verify = options.verify() == v1::VERIFY_MODE_UNSPECIFIED
                    ? v1::VERIFY_END
                    : options.verify();
  words.push_back("--verify=" + std::string(VerifyModeWord(verify)));
  std::string passes;
  for (const std::string& pass : options.passes()) {
    passes += (passes.empty() ? "" : ",") + pass;
  }
  if (!passes.empty()) words.push_back("--passes=" + passes);
  return words;
}

void AddFile(std::string_view name, const Digest& digest,
             reapi::Directory* directory) {
  reapi::FileNode* file = directory->add_files();
  file->set_name(std::string(name));
  *file->mutable_digest() = digest;
}

}  // namespace

std::string SerializeDeterministic(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

Digest DigestOf(std::string_view bytes) {
  Digest digest;
  digest.set_hash(Sha256Hex(bytes));
  digest.set_size_bytes(static_cast<int64_t>(bytes.size()));
  return digest;
}

std::string BlobText(std::string_view hash, int64_t size_bytes) {
  return "blobs/" + std::string(hash) + "/" + std::to_string(size_bytes);
}

std::string BlobText(const Digest& digest) {
  return BlobText(digest.hash(), digest.size_bytes());
}

bool IsExternalFileName(std::string_view name) {
  constexpr size_t kMaxBytes = 255;
  if (name.empty() || name.size() > kMaxBytes || name == "." || name == ".." ||
      name.find_first_of(std::string_view("/\\:\0", 4)) !=
          std::string_view::npos) {
    return false;
  }
  constexpr std::string_view kOwn[] = {
      kModelFile,  kTargetFile,    kEncodingsFile, kArtifactFile,
      kReportFile, kJobStdoutFile, kJobStderrFile};
  return std::find(std::begin(kOwn), std::end(kOwn), name) == std::end(kOwn);
}

CompileAction BuildAction(const ActionInputs& inputs) {
  CompileAction out;
  // Through the struct: one descriptor has one form, whether it was named, sent
  // or read, and fields that this build does not know have no place in the key.
  out.target_bytes = SerializeDeterministic(ToProto(FromProto(inputs.target)));
  bool has_encodings = !inputs.encodings.hash().empty();

  reapi::Command& command = out.command;
  for (std::string_view word :
       {std::string_view("foldc"), kModelFile,
        std::string_view("--target-file"), kTargetFile, std::string_view("-o"),
        kArtifactFile, std::string_view("--report"), kReportFile}) {
    command.add_arguments(std::string(word));
  }
  if (has_encodings) {
    command.add_arguments("--encodings");
    command.add_arguments(std::string(kEncodingsFile));
  }
  for (auto& word : OptionWords(inputs.options, inputs.target.default_io())) {
    command.add_arguments(std::move(word));
  }
  command.add_output_paths(std::string(kArtifactFile));
  command.add_output_paths(std::string(kReportFile));
  reapi::Platform::Property* id = command.mutable_platform()->add_properties();
  id->set_name("foldd-compiler");
  id->set_value(inputs.compiler_id);

  // Files of a Directory are sorted by name.
  std::map<std::string, Digest> files = inputs.external_files;
  if (has_encodings) files[std::string(kEncodingsFile)] = inputs.encodings;
  files[std::string(kModelFile)] = inputs.model;
  files[std::string(kTargetFile)] = DigestOf(out.target_bytes);
  for (const auto& [name, digest] : files) {
    AddFile(name, digest, &out.input_root);
  }

  reapi::Action& action = out.action;
  *action.mutable_command_digest() = DigestOf(SerializeDeterministic(command));
  *action.mutable_input_root_digest() =
      DigestOf(SerializeDeterministic(out.input_root));
  action.mutable_timeout()->set_seconds(inputs.timeout_milliseconds / 1000);
  action.mutable_timeout()->set_nanos(
      static_cast<int32_t>(inputs.timeout_milliseconds % 1000) * 1'000'000);
  action.set_salt(inputs.salt);
  *action.mutable_platform() = command.platform();
  out.digest = DigestOf(SerializeDeterministic(action));
  return out;
}

}  // namespace fold
