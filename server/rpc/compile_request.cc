#include "server/rpc/compile_request.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/api/action.h"
#include "compiler/api/convert.h"
#include "compiler/api/sha256.h"
#include "server/rpc/blob_names.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

// All options together, as words: they travel in one packet to the compiler.
constexpr size_t kMaxOptionBytes = 32 << 10;
constexpr int64_t kMaxTargetBytes = 64 << 10;
constexpr int kMaxExternalFiles = 1024;
constexpr size_t kMaxRequestIdBytes = 64;
constexpr int64_t kMaxSeconds = int64_t{366} * 86400;

// The file's name without the "./" that some exporters write before it.
std::string_view PlainName(const v1::ExternalFile& file) {
  std::string_view name = file.location();
  if (name.substr(0, 2) == "./") name.remove_prefix(2);
  return name;
}

class RequestReader {
 public:
  RequestReader(const v1::CompileRequest& request, const ServiceParts& parts)
      : request_(request), parts_(parts) {}

  std::optional<Failure> Read(CompileRequestSpec* spec) {
    ActionInputs inputs;
    ReadModel(&inputs);
    ReadExternalFiles(&inputs);
    ReadTimes(&inputs, spec);
    CheckNames();
    if (auto failure = ReadTarget(&inputs.target)) return failure;
    CheckOptions();
    if (!violations_.empty()) {
      Failure failure = {"BAD_REQUEST",
                         "the request is at fault: " + violations_[0].field +
                             " " + violations_[0].message};
      failure.violations = std::move(violations_);
      return failure;
    }
    if (!request_.compiler_id().empty() &&
        request_.compiler_id() != parts_.compiler_id) {
      return Failure{"UNKNOWN_COMPILER",
                     "this server has the compiler " + parts_.compiler_id,
                     {{"compiler_id", parts_.compiler_id}}};
    }
    inputs.options = request_.options();
    inputs.compiler_id = parts_.compiler_id;
    inputs.salt = parts_.config->salt;
    if (!request_.encodings().empty()) {
      inputs.encodings = DigestOf(request_.encodings());
    }
    spec->job.action = BuildAction(inputs);
    spec->instance = request_.instance_name();
    spec->job.instance = request_.instance_name();
    spec->fresh = request_.skip_cache_lookup();
    spec->instance = request_.instance_name();
    spec->manifest.set_model_digest(inputs.model.hash());
    spec->manifest.set_target(inputs.target.name());
    *spec->manifest.mutable_compatible() = inputs.target.compatible();
    spec->manifest.set_compiler_id(parts_.compiler_id);
    return std::nullopt;
  }

 private:
  void Bad(std::string field, std::string message) {
    violations_.push_back({std::move(field), std::move(message)});
  }

  void ReadModel(ActionInputs* inputs) {
    switch (request_.model_source_case()) {
      case v1::CompileRequest::kModel:
        inputs->model = DigestOf(request_.model());
        break;
      case v1::CompileRequest::kModelDigest:
        inputs->model = request_.model_digest();
        if (!IsSha256Hex(inputs->model.hash())) {
          Bad("model_digest.hash", "must be 64 lower-case hexadecimal digits");
        }
        if (inputs->model.size_bytes() < 0) {
          Bad("model_digest.size_bytes", "must not be negative");
        }
        break;
      case v1::CompileRequest::MODEL_SOURCE_NOT_SET:
        Bad("model", "give model or model_digest");
    }
  }

  void ReadExternalFiles(ActionInputs* inputs) {
    for (int i = 0; i < request_.external_files_size(); ++i) {
      const v1::ExternalFile& file = request_.external_files(i);
      std::string field = "external_files[" + std::to_string(i) + "]";
      std::string_view name = PlainName(file);
      if (!IsExternalFileName(name)) {
        Bad(field + ".location", "must be the plain name of a file");
      } else if (!inputs->external_files.emplace(name, file.digest()).second) {
        Bad(field + ".location", "repeats a name");
      }
      if (!IsSha256Hex(file.digest().hash())) {
        Bad(field + ".digest.hash", "must be 64 lower-case hexadecimal digits");
      }
      if (file.digest().size_bytes() < 0) {
        Bad(field + ".digest.size_bytes", "must not be negative");
      }
    }
    if (request_.external_files_size() > kMaxExternalFiles) {
      Bad("external_files", "are more than 1024");
    }
  }

  // Whole milliseconds of a duration, which must be above 0.
  int64_t ReadTime(const char* field, const google::protobuf::Duration& time) {
    if (time.seconds() < 0 || time.nanos() < 0 || time.nanos() > 999'999'999 ||
        time.seconds() > kMaxSeconds ||
        (time.seconds() == 0 && time.nanos() < 1'000'000)) {
      Bad(field, "must be from a millisecond to a year");
      return 0;
    }
    return time.seconds() * 1000 + time.nanos() / 1'000'000;
  }

  void ReadTimes(ActionInputs* inputs, CompileRequestSpec* spec) {
    const int64_t most = parts_.config->job_wall_seconds * 1000;
    inputs->timeout_milliseconds = most;
    if (request_.has_run_timeout()) {
      inputs->timeout_milliseconds =
          ReadTime("run_timeout", request_.run_timeout());
      if (inputs->timeout_milliseconds > most) {
        Bad("run_timeout", "is longer than this server allows: " +
                               std::to_string(most) + " ms");
      }
    }
    if (request_.has_queue_timeout()) {
      int64_t wait = ReadTime("queue_timeout", request_.queue_timeout());
      spec->queue_timeout = std::chrono::milliseconds(wait);
      if (wait > parts_.config->queue_seconds * 1000) {
        Bad("queue_timeout", "is longer than this server allows: " +
                                 std::to_string(parts_.config->queue_seconds) +
                                 " s");
      }
    }
  }

  void CheckNames() {
    if (!IsInstanceName(request_.instance_name())) {
      Bad("instance_name",
          "must be up to 63 of a-z, 0-9, '_', '-', the first no sign");
    }
    const std::string& id = request_.request_id();
    bool plain = std::all_of(id.begin(), id.end(),
                             [](char c) { return c > 0x20 && c < 0x7f; });
    if (id.size() > kMaxRequestIdBytes || !plain) {
      Bad("request_id", "must be up to 64 printable characters");
    }
  }

  std::optional<Failure> ReadTarget(v1::TargetDescriptor* target) {
    switch (request_.target_source_case()) {
      case v1::CompileRequest::kTargetName: {
        const auto* found = parts_.targets->Find(request_.target_name());
        if (found == nullptr) {
          return Failure{"UNKNOWN_TARGET",
                         parts_.targets->Unknown(request_.target_name()),
                         {{"target", request_.target_name()}}};
        }
        *target = *found;
        return std::nullopt;
      }
      case v1::CompileRequest::kTarget:
        return ReadOwnTarget(target);
      case v1::CompileRequest::TARGET_SOURCE_NOT_SET:
        Bad("target_name", "give target_name or target");
    }
    return std::nullopt;
  }

  std::optional<Failure> ReadOwnTarget(v1::TargetDescriptor* target) {
    if (static_cast<int64_t>(request_.target().ByteSizeLong()) >
        kMaxTargetBytes) {
      Bad("target", "is larger than 65536 bytes");
      return std::nullopt;
    }
    TargetDescriptor plain = FromProto(request_.target());
    Failure failure = {"BAD_TARGET", ""};
    for (const TargetProblem& problem : CheckTarget(plain)) {
      failure.violations.push_back(
          {"target." + problem.field, problem.message});
    }
    if (!failure.violations.empty()) {
      failure.message =
          "the target is at fault: " + failure.violations[0].field + " " +
          failure.violations[0].message;
      return failure;
    }
    *target = request_.target();
    return std::nullopt;
  }

  // A name that becomes a word of the command line.
  void CheckWord(const std::string& field, const std::string& word) {
    option_bytes_ += word.size() + 24;
    if (word.empty()) Bad(field, "is empty");
    if (word.find('\0') != std::string::npos) Bad(field, "has a zero byte");
  }

  void CheckShapes() {
    std::set<std::string> names;
    for (int i = 0; i < request_.options().shapes_size(); ++i) {
      const v1::InputShape& shape = request_.options().shapes(i);
      std::string field = "options.shapes[" + std::to_string(i) + "]";
      CheckWord(field + ".name", shape.name());
      option_bytes_ += 20 * shape.dimensions_size();
      if (!names.insert(shape.name()).second) Bad(field, "repeats an input");
      for (int64_t size : shape.dimensions()) {
        if (size < 0) {
          Bad(field + ".dimensions", "must not be negative");
          break;
        }
      }
    }
  }

  void CheckOptions() {
    const v1::CompileOptions& options = request_.options();
    CheckShapes();
    if (!v1::BoundaryIo_IsValid(options.io())) Bad("options.io", "is unknown");
    if (!v1::VerifyMode_IsValid(options.verify())) {
      Bad("options.verify", "is unknown");
    }
    for (int value : options.require()) {
      if (!v1::Requirement_IsValid(value) ||
          value == v1::REQUIREMENT_UNSPECIFIED) {
        Bad("options.require", "has an unknown requirement");
      }
    }
    for (const std::string& pass : options.dump_after()) {
      CheckWord("options.dump_after", pass);
    }
    for (const std::string& pass : options.passes()) {
      CheckWord("options.passes", pass);
      if (pass.find(',') != std::string::npos) {
        Bad("options.passes", "has a comma in a name");
      }
    }
    if (option_bytes_ > kMaxOptionBytes) {
      Bad("options", "are larger than 32768 bytes");
    }
  }

  const v1::CompileRequest& request_;
  const ServiceParts& parts_;
  size_t option_bytes_ = 0;
  std::vector<FieldViolation> violations_;
};

}  // namespace

std::optional<Failure> ReadCompileRequest(const v1::CompileRequest& request,
                                          const ServiceParts& parts,
                                          CompileRequestSpec* spec) {
  return RequestReader(request, parts).Read(spec);
}

namespace {

struct NamedBlob {
  std::string_view name;
  const Digest* digest;
};

}  // namespace

std::optional<Failure> CollectInputs(const v1::CompileRequest& request,
                                     const ServiceParts& parts,
                                     CompileRequestSpec* spec) {
  std::vector<NamedBlob> blobs;
  auto inline_file = [&](std::string_view name, const std::string& bytes) {
    spec->job.inputs.push_back(
        {std::string(name), std::make_shared<const std::string>(bytes), {}});
  };
  if (request.has_model_digest()) {
    blobs.push_back({kModelFile, &request.model_digest()});
  } else {
    inline_file(kModelFile, request.model());
  }
  if (!request.encodings().empty()) {
    inline_file(kEncodingsFile, request.encodings());
  }
  for (const v1::ExternalFile& file : request.external_files()) {
    std::string_view name = PlainName(file);
    blobs.push_back({name, &file.digest()});
  }
  auto leases = std::make_shared<std::vector<Lease>>();
  Failure missing = {"BLOBS_MISSING",
                     "inputs are not in the CAS: send them first"};
  for (const NamedBlob& blob : blobs) {
    Key key = {Space::kBlob, blob.digest->hash(), request.instance_name()};
    if (IsEmptyBlob(key)) {
      inline_file(blob.name, "");
      continue;
    }
    auto lease = parts.blobs->Hold(key, blob.digest->size_bytes());
    if (!lease || parts.blobs->SizeOf(key) != blob.digest->size_bytes()) {
      missing.missing_blobs.push_back(BlobText(*blob.digest));
      continue;
    }
    leases->push_back(std::move(*lease));
    spec->job.inputs.push_back(
        {std::string(blob.name), nullptr, {key, blob.digest->size_bytes()}});
  }
  spec->job.leases = std::move(leases);
  if (missing.missing_blobs.empty()) return std::nullopt;
  return missing;
}

std::optional<Failure> FindAnswerOrInputs(const v1::CompileRequest& request,
                                          const ServiceParts& parts,
                                          CompileRequestSpec* spec) {
  if (!spec->fresh) spec->answer = parts.cache->Find(NameOf(*spec));
  if (spec->answer) return std::nullopt;
  return CollectInputs(request, parts, spec);
}

std::string ContentHash(const v1::CompileRequest& request) {
  v1::CompileRequest content = request;
  content.clear_request_id();
  if (content.has_model()) {
    Digest digest = DigestOf(content.model());
    *content.mutable_model_digest() = digest;
  }
  return DigestOf(SerializeDeterministic(content)).hash();
}

}  // namespace fold
