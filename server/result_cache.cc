#include "server/result_cache.h"

#include <algorithm>

#include "compiler/api/action.h"
#include "proto/build/bazel/remote/execution/v2/remote_execution.pb.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
namespace reapi = build::bazel::remote::execution::v2;

constexpr int kMaxManifests = 256;

Key BlobKey(const Digest& digest) { return {Space::kBlob, digest.hash()}; }

const reapi::OutputFile* FindOutput(const reapi::ActionResult& result,
                                    std::string_view path) {
  for (const auto& file : result.output_files()) {
    if (file.path() == path) return &file;
  }
  return nullptr;
}

void AddOutput(std::string_view path, const Digest& digest,
               reapi::ActionResult* result) {
  reapi::OutputFile* file = result->add_output_files();
  file->set_path(std::string(path));
  *file->mutable_digest() = digest;
}

}  // namespace

std::optional<CachedResult> ResultCache::Find(const std::string& action_hash) {
  absl::StatusOr<Bytes> entry = store_->Get({Space::kAction, action_hash});
  reapi::ActionResult action;
  if (!entry.ok() || !action.ParseFromString(**entry)) return std::nullopt;
  const reapi::OutputFile* artifact = FindOutput(action, kArtifactFile);
  const reapi::OutputFile* report = FindOutput(action, kReportFile);
  if (artifact == nullptr || report == nullptr) return std::nullopt;
  absl::StatusOr<Bytes> artifact_bytes =
      store_->Get(BlobKey(artifact->digest()));
  absl::StatusOr<Bytes> report_bytes = store_->Get(BlobKey(report->digest()));
  if (!artifact_bytes.ok() || !report_bytes.ok()) return std::nullopt;
  auto parsed = std::make_shared<v1::CompileReport>();
  if (!parsed->ParseFromString(**report_bytes)) return std::nullopt;
  CachedResult result{*artifact_bytes, std::move(parsed), ""};
  if (action.has_stdout_digest()) {
    absl::StatusOr<Bytes> dump = store_->Get(BlobKey(action.stdout_digest()));
    if (!dump.ok()) return std::nullopt;
    result.dump = **dump;
  }
  return result;
}

absl::Status ResultCache::Save(const std::string& action_hash,
                               const CachedResult& result) {
  reapi::ActionResult action;
  auto put = [&](const Bytes& bytes, const Digest& digest) {
    return store_->Put(BlobKey(digest), bytes);
  };
  auto report = std::make_shared<const std::string>(
      SerializeDeterministic(*result.report));
  Digest artifact_digest = DigestOf(*result.artifact);
  Digest report_digest = DigestOf(*report);
  AddOutput(kArtifactFile, artifact_digest, &action);
  AddOutput(kReportFile, report_digest, &action);
  absl::Status status = put(result.artifact, artifact_digest);
  if (status.ok()) status = put(report, report_digest);
  if (status.ok() && !result.dump.empty()) {
    *action.mutable_stdout_digest() = DigestOf(result.dump);
    status = put(std::make_shared<const std::string>(result.dump),
                 action.stdout_digest());
  }
  if (!status.ok()) return status;
  return store_->Put(
      {Space::kAction, action_hash},
      std::make_shared<const std::string>(SerializeDeterministic(action)));
}

v1::ManifestList ResultCache::ReadManifests(const std::string& model_hash) {
  v1::ManifestList list;
  absl::StatusOr<Bytes> entry = store_->Get({Space::kManifest, model_hash});
  if (!entry.ok() || !list.ParseFromString(**entry)) list.Clear();
  return list;
}

absl::Status ResultCache::AddManifest(const v1::Manifest& manifest) {
  std::lock_guard lock(manifest_mutex_);
  v1::ManifestList list = ReadManifests(manifest.model_digest());
  auto* all = list.mutable_manifests();
  all->erase(std::remove_if(all->begin(), all->end(),
                            [&](const v1::Manifest& old) {
                              return old.action_digest() ==
                                     manifest.action_digest();
                            }),
             all->end());
  while (all->size() >= kMaxManifests) all->erase(all->begin());
  *list.add_manifests() = manifest;
  return store_->Put(
      {Space::kManifest, manifest.model_digest()},
      std::make_shared<const std::string>(SerializeDeterministic(list)));
}

std::optional<v1::Manifest> ResultCache::Resolve(
    const std::string& model_hash, std::span<const std::string> compatible) {
  v1::ManifestList list = ReadManifests(model_hash);
  for (const std::string& wanted : compatible) {
    for (int i = list.manifests_size() - 1; i >= 0; --i) {
      const v1::Manifest& manifest = list.manifests(i);
      const auto& has = manifest.compatible();
      if (std::find(has.begin(), has.end(), wanted) != has.end() &&
          store_->Touch(BlobKey(manifest.artifact()))) {
        return manifest;
      }
    }
  }
  return std::nullopt;
}

}  // namespace fold
