#include "server/result_cache.h"

#include <algorithm>

#include "compiler/api/action.h"
#include "compiler/api/sha256.h"
#include "server/action_blobs.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
namespace reapi = build::bazel::remote::execution::v2;

constexpr int kMaxManifests = 256;

Key BlobKey(const Digest& digest, const std::string& instance) {
  return {Space::kBlob, digest.hash(), instance};
}

Key ActionKey(const ActionName& action) {
  return {Space::kAction, action.hash, action.instance};
}

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

Bytes Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

std::string BlobName(const SizedKey& blob) {
  return BlobText(blob.key.hash, blob.size);
}

}  // namespace

std::optional<reapi::ActionResult> ResultCache::ReadEntry(const Key& key) {
  absl::StatusOr<Bytes> entry = store_->Get(key);
  reapi::ActionResult result;
  if (!entry.ok() || !result.ParseFromString(**entry)) return std::nullopt;
  return result;
}

absl::StatusOr<std::string> ResultCache::ReadSmall(const SizedKey& blob) {
  absl::StatusOr<Bytes> bytes = store_->Get(blob.key);
  if (!bytes.ok()) return bytes.status();
  return **bytes;
}

absl::StatusOr<ResultCache::Held> ResultCache::HoldAll(
    reapi::ActionResult result, const std::string& instance) {
  Held held;
  absl::Status status = VisitNamedBlobs(
      result, instance, [&](const SizedKey& tree) { return ReadSmall(tree); },
      [&](const SizedKey& blob) -> absl::Status {
        bool recalled = parts_.recalls != nullptr &&
                        parts_.recalls->Find(blob.key).has_value();
        std::optional<Lease> lease;
        if (!recalled) lease = store_->Hold(blob.key);
        if (!lease) return absl::NotFoundError(BlobName(blob));
        held.leases.push_back(std::move(*lease));
        held.blobs.push_back(blob);
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  held.result = std::move(result);
  return held;
}

std::optional<ResultCache::Held> ResultCache::Look(const ActionName& action) {
  if (Recalled(action)) return std::nullopt;
  // Once with what is here, and once more with what could be fetched.
  for (bool pulled : {false, true}) {
    if (pulled && !Pull(action)) break;
    auto entry = ReadEntry(ActionKey(action));
    if (!entry) continue;
    auto held = HoldAll(std::move(*entry), action.instance);
    if (held.ok()) return std::move(*held);
  }
  return std::nullopt;
}

// Brings an action here from the remote tier; callers that want the same one
// share the work.
bool ResultCache::Pull(const ActionName& action) {
  if (parts_.remote == nullptr || parts_.blobs == nullptr ||
      action.size_bytes < 0) {
    return false;
  }
  auto deadline = parts_.remote->NewDeadline();
  return pulls_
      .Do(ActionKey(action), deadline,
          [&] { return PullOnce(action, deadline); })
      .ok();
}

// The entry is kept only once all of its blobs are here and right.
absl::Status ResultCache::PullOnce(const ActionName& action,
                                   RemoteTier::Deadline deadline) {
  auto entry = parts_.remote->FetchAction(
      {ActionKey(action), action.size_bytes}, deadline);
  if (!entry.ok()) return entry.status();
  reapi::ActionResult result;
  if (!result.ParseFromString(*entry)) {
    return absl::DataLossError("the remote entry is no ActionResult");
  }
  std::vector<Lease> leases;
  absl::Status status = VisitNamedBlobs(
      result, action.instance,
      [&](const SizedKey& tree) { return ReadSmall(tree); },
      [&](const SizedKey& blob) -> absl::Status {
        absl::Status fetched =
            parts_.blobs->Fetch(blob.key, blob.size, deadline);
        if (!fetched.ok()) return fetched;
        std::optional<Lease> lease = store_->Hold(blob.key);
        if (!lease) return absl::NotFoundError(BlobName(blob));
        leases.push_back(std::move(*lease));
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return store_->Put(ActionKey(action), Text(SerializeDeterministic(result)));
}

std::optional<CachedResult> ResultCache::Find(const ActionName& action) {
  std::optional<Held> held = Look(action);
  if (!held) return std::nullopt;
  return Answer(std::move(*held), action.instance);
}

std::optional<CachedResult> ResultCache::Answer(Held held,
                                                const std::string& instance) {
  const reapi::ActionResult& action = held.result;
  const reapi::OutputFile* artifact = FindOutput(action, kArtifactFile);
  const reapi::OutputFile* report = FindOutput(action, kReportFile);
  // Others may write entries, too: only a whole compile's is an answer.
  if (artifact == nullptr || report == nullptr || action.exit_code() != 0) {
    return std::nullopt;
  }
  CachedResult result;
  result.artifact_digest = artifact->digest();
  if (artifact->digest().size_bytes() <= parts_.whole_artifact_bytes) {
    auto bytes = store_->Get(BlobKey(artifact->digest(), instance));
    if (!bytes.ok()) return std::nullopt;
    result.artifact = *bytes;
  }
  auto report_bytes = store_->Get(BlobKey(report->digest(), instance));
  auto parsed = std::make_shared<v1::CompileReport>();
  if (!report_bytes.ok() || !parsed->ParseFromString(**report_bytes) ||
      parsed->artifact().digest() != artifact->digest().hash()) {
    return std::nullopt;
  }
  result.report = std::move(parsed);
  result.dump = action.stdout_raw();
  if (action.has_stdout_digest()) {
    auto dump = store_->Get(BlobKey(action.stdout_digest(), instance));
    if (!dump.ok()) return std::nullopt;
    result.dump = **dump;
  }
  result.leases =
      std::make_shared<const std::vector<Lease>>(std::move(held.leases));
  return result;
}

absl::Status ResultCache::SaveParts(const CompileAction& made_of,
                                    const std::string& instance) {
  for (const std::string& part :
       {made_of.target_bytes, SerializeDeterministic(made_of.command),
        SerializeDeterministic(made_of.input_root),
        SerializeDeterministic(made_of.action)}) {
    absl::Status status =
        store_->Put(BlobKey(DigestOf(part), instance), Text(part));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ResultCache::Save(const ActionName& action,
                               const CachedResult& result,
                               const CompileAction* made_of) {
  reapi::ActionResult entry;
  std::vector<SizedKey> blobs;
  std::vector<Lease> leases;
  auto put = [&](const Bytes& bytes, const Digest& digest) -> absl::Status {
    Key key = BlobKey(digest, action.instance);
    blobs.push_back({key, digest.size_bytes()});
    absl::Status status = store_->Put(key, bytes);
    if (!status.ok()) return status;
    // Held until the entry that names it is there.
    std::optional<Lease> lease = store_->Hold(key);
    if (lease) leases.push_back(std::move(*lease));
    return absl::OkStatus();
  };
  std::string report = SerializeDeterministic(*result.report);
  Digest artifact_digest = result.artifact_digest;
  if (artifact_digest.hash().empty()) {
    artifact_digest = DigestOf(*result.artifact);
  }
  Digest report_digest = DigestOf(report);
  AddOutput(kArtifactFile, artifact_digest, &entry);
  AddOutput(kReportFile, report_digest, &entry);
  absl::Status status = put(result.artifact, artifact_digest);
  if (status.ok()) status = put(Text(std::move(report)), report_digest);
  if (status.ok() && !result.dump.empty()) {
    *entry.mutable_stdout_digest() = DigestOf(result.dump);
    status = put(Text(result.dump), entry.stdout_digest());
  }
  if (status.ok() && made_of != nullptr) {
    status = SaveParts(*made_of, action.instance);
  }
  if (!status.ok()) return status;
  std::string bytes = SerializeDeterministic(entry);
  status = store_->Put(ActionKey(action), Text(bytes));
  if (status.ok()) SendLater(action, bytes, std::move(blobs));
  return status;
}

void ResultCache::SendLater(const ActionName& action, const std::string& entry,
                            std::vector<SizedKey> blobs) {
  if (parts_.remote == nullptr || action.size_bytes < 0) return;
  parts_.remote->SendLater({ActionKey(action), action.size_bytes}, entry,
                           std::move(blobs));
}

std::optional<Failure> ResultCache::Recalled(
    const ActionName& action, const std::string& artifact_hash) const {
  if (parts_.recalls == nullptr) return std::nullopt;
  std::optional<std::string> note = parts_.recalls->Find(ActionKey(action));
  std::string what = "the action";
  std::string hash = action.hash;
  if (!note && !artifact_hash.empty()) {
    what = "the artifact";
    hash = artifact_hash;
    note = parts_.recalls->Find({Space::kBlob, hash, action.instance});
  }
  if (!note) return std::nullopt;
  return Failure{
      "ARTIFACT_RECALLED",
      what + " " + hash + " is recalled" + (note->empty() ? "" : ": " + *note),
      {{"digest", hash}, {"action", action.hash}}};
}

std::optional<Failure> ResultCache::GetActionResult(
    const ActionName& action, reapi::ActionResult* result) {
  if (auto failure = Recalled(action)) return failure;
  std::optional<Held> held = Look(action);
  if (!held) {
    return Failure{"NO_ACTION_RESULT",
                   "the cache has no whole result of this action",
                   {{"action", action.hash}}};
  }
  if (parts_.blobs != nullptr) {
    std::vector<Key> keys;
    for (const SizedKey& blob : held->blobs) keys.push_back(blob.key);
    (void)parts_.blobs->Missing(keys);  // leases them
  }
  *result = std::move(held->result);
  return std::nullopt;
}

std::optional<Failure> ResultCache::UpdateActionResult(
    const ActionName& action, reapi::ActionResult result) {
  if (!IsSha256Hex(action.hash)) {
    return Failure{"BAD_REQUEST", "action_digest is no digest"};
  }
  if (auto failure = Recalled(action)) return failure;
  if (result.exit_code() != 0) {
    return Failure{"BAD_REQUEST", "results of failed actions are not kept"};
  }
  for (auto& file : *result.mutable_output_files()) file.clear_contents();
  Failure missing = {"BLOBS_MISSING",
                     "the result names blobs that are not here"};
  std::vector<Lease> leases;
  std::vector<SizedKey> blobs;
  absl::Status status = VisitNamedBlobs(
      result, action.instance,
      [&](const SizedKey& tree) -> absl::StatusOr<std::string> {
        auto bytes = ReadSmall(tree);
        return bytes.ok() ? bytes : std::string();  // named as missing below
      },
      [&](const SizedKey& blob) -> absl::Status {
        std::optional<Lease> lease = store_->Hold(blob.key);
        if (!lease) {
          missing.missing_blobs.push_back(BlobName(blob));
        } else {
          leases.push_back(std::move(*lease));
          blobs.push_back(blob);
        }
        return absl::OkStatus();
      });
  if (!status.ok())
    return Failure{"BAD_REQUEST", std::string(status.message())};
  if (!missing.missing_blobs.empty()) return missing;
  std::string bytes = SerializeDeterministic(result);
  status = store_->Put(ActionKey(action), Text(bytes));
  if (!status.ok()) {
    return Failure{
        absl::IsResourceExhausted(status) ? "STORAGE_FULL" : "STORAGE_FAILED",
        std::string(status.message())};
  }
  SendLater(action, bytes, std::move(blobs));
  return std::nullopt;
}

v1::ManifestList ResultCache::Manifests(const std::string& model_hash,
                                        const std::string& instance) {
  v1::ManifestList list;
  auto entry = store_->Get({Space::kManifest, model_hash, instance});
  if (!entry.ok() || !list.ParseFromString(**entry)) list.Clear();
  return list;
}

absl::Status ResultCache::AddManifest(const v1::Manifest& manifest,
                                      const std::string& instance) {
  std::lock_guard lock(manifest_mutex_);
  v1::ManifestList list = Manifests(manifest.model_digest(), instance);
  auto* all = list.mutable_manifests();
  all->erase(std::remove_if(all->begin(), all->end(),
                            [&](const v1::Manifest& old) {
                              return old.action_digest() ==
                                     manifest.action_digest();
                            }),
             all->end());
  while (all->size() >= kMaxManifests) all->erase(all->begin());
  *list.add_manifests() = manifest;
  return store_->Put({Space::kManifest, manifest.model_digest(), instance},
                     Text(SerializeDeterministic(list)));
}

std::optional<v1::Manifest> ResultCache::Resolve(
    const std::string& model_hash, std::span<const std::string> compatible,
    const std::string& instance) {
  v1::ManifestList list = Manifests(model_hash, instance);
  for (const std::string& wanted : compatible) {
    for (int i = list.manifests_size() - 1; i >= 0; --i) {
      const v1::Manifest& manifest = list.manifests(i);
      const auto& has = manifest.compatible();
      if (std::find(has.begin(), has.end(), wanted) == has.end() ||
          Recalled({manifest.action_digest(), -1, instance},
                   manifest.artifact().hash())) {
        continue;
      }
      if (store_->Touch(BlobKey(manifest.artifact(), instance))) {
        return manifest;
      }
    }
  }
  return std::nullopt;
}

}  // namespace fold
