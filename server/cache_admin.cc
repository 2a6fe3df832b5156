#include "server/cache_admin.h"

#include <algorithm>

#include "compiler/api/action.h"
#include "compiler/api/sha256.h"
#include "server/action_blobs.h"
#include "server/cache/disk_layout.h"
#include "server/cache/scrubber.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
namespace reapi = build::bazel::remote::execution::v2;

Failure BadField(const std::string& field, const std::string& message) {
  return {"BAD_REQUEST", field + ": " + message, {}, {{field, message}}};
}

std::optional<Failure> CheckInstance(const std::string& instance) {
  if (IsInstanceName(instance)) return std::nullopt;
  return BadField("instance_name", "is not [a-z0-9][a-z0-9_-]{0,62}");
}

v1::CacheEntry EntryOf(const Key& key) {
  v1::CacheEntry entry;
  entry.set_kind(key.space == Space::kBlob     ? v1::CacheEntry::BLOB
                 : key.space == Space::kAction ? v1::CacheEntry::ACTION
                                               : v1::CacheEntry::MANIFEST);
  entry.set_hash(key.hash);
  return entry;
}

std::optional<Failure> ReadEntry(const v1::CacheEntry& entry,
                                 const std::string& instance, Key* key) {
  if (auto failure = CheckInstance(instance)) return failure;
  switch (entry.kind()) {
    case v1::CacheEntry::BLOB:
      key->space = Space::kBlob;
      break;
    case v1::CacheEntry::ACTION:
      key->space = Space::kAction;
      break;
    case v1::CacheEntry::MANIFEST:
      key->space = Space::kManifest;
      break;
    default:
      return BadField("entry.kind", "is none of BLOB, ACTION, MANIFEST");
  }
  if (!IsSha256Hex(entry.hash())) {
    return BadField("entry.hash", "is not 64 hexadecimal digits");
  }
  key->hash = entry.hash();
  key->instance = instance;
  return std::nullopt;
}

Failure NoEntry(const std::string& what) {
  return {"NO_CACHE_ENTRY", what + " is not in the cache"};
}

Failure StoreFailure(const absl::Status& status) {
  std::string message(status.message());
  if (absl::IsNotFound(status)) return {"NO_CACHE_ENTRY", message};
  if (absl::IsResourceExhausted(status)) return {"STORAGE_FULL", message};
  if (absl::IsInvalidArgument(status)) return {"BAD_REQUEST", message};
  return {"STORAGE_FAILED", message};
}

void AddMark(const Key& key, const std::string& note, v1::Mark* mark) {
  *mark->mutable_entry() = EntryOf(key);
  mark->set_note(note);
}

}  // namespace

std::optional<Failure> CacheAdmin::Stats(
    const v1::GetCacheStatsRequest& request,
    v1::GetCacheStatsResponse* response) {
  const std::string& instance = request.instance_name();
  if (auto failure = CheckInstance(instance)) return failure;
  const DiskStore& disk = *parts_.disk;
  auto add_tier = [&](const char* name, int64_t used, int64_t limit) {
    auto* tier = response->add_tiers();
    tier->set_name(name);
    tier->set_used_bytes(used);
    tier->set_limit_bytes(limit);
  };
  add_tier("disk", disk.used_bytes(), disk.limit_bytes());
  add_tier("memory", parts_.memory->used_bytes(), parts_.memory_limit_bytes);
  int64_t blobs = 0, blob_bytes = 0, actions = 0, manifests = 0;
  for (const auto& entry : disk.Entries()) {
    if (entry.key.instance != instance) continue;
    blobs += entry.key.space == Space::kBlob;
    blob_bytes += entry.key.space == Space::kBlob ? entry.size : 0;
    actions += entry.key.space == Space::kAction;
    manifests += entry.key.space == Space::kManifest;
  }
  response->set_blobs(blobs);
  response->set_blob_bytes(blob_bytes);
  response->set_actions(actions);
  response->set_manifests(manifests);
  for (const auto& pin : disk.Pins()) {
    if (pin.name.instance != instance) continue;
    AddMark(pin.name, pin.note, response->add_pins());
  }
  for (const auto& [key, note] : parts_.recalls->All()) {
    if (key.instance != instance) continue;
    AddMark(key, note, response->add_recalls());
  }
  response->set_pinned_bytes(disk.pinned_bytes());
  response->set_quarantine_bytes(disk.quarantine().bytes());
  response->set_temporary_bytes(disk.temporary_bytes());
  response->set_evictions(disk.evictions());
  response->set_leases(parts_.disk->protection().held());
  response->set_remote(parts_.remote_state());
  return std::nullopt;
}

std::vector<Key> CacheAdmin::WithBlobs(const Key& key,
                                       std::vector<std::string>* missing) {
  std::vector<Key> keys = {key};
  if (key.space != Space::kAction) return keys;
  absl::StatusOr<Bytes> entry = parts_.store->Get(key);
  reapi::ActionResult result;
  if (!entry.ok() || !result.ParseFromString(**entry)) return keys;
  (void)VisitNamedBlobs(
      result, key.instance,
      [&](const SizedKey& tree) -> absl::StatusOr<std::string> {
        absl::StatusOr<Bytes> bytes = parts_.store->Get(tree.key);
        return bytes.ok() ? **bytes : std::string();
      },
      [&](const SizedKey& blob) {
        if (parts_.disk->SizeOf(blob.key) < 0) {
          missing->push_back(BlobText(blob.key.hash, blob.size));
        } else {
          keys.push_back(blob.key);
        }
        return absl::OkStatus();
      });
  return keys;
}

std::optional<Failure> CacheAdmin::Pin(const v1::PinEntryRequest& request,
                                       v1::PinEntryResponse* response) {
  Key key;
  if (auto failure =
          ReadEntry(request.entry(), request.instance_name(), &key)) {
    return failure;
  }
  if (!parts_.store->Touch(key)) return NoEntry(key.hash);
  std::vector<std::string> missing;
  std::vector<Key> keys = WithBlobs(key, &missing);
  if (!missing.empty()) {
    Failure failure = NoEntry("a blob of the action");
    failure.missing_blobs = std::move(missing);
    return failure;
  }
  absl::Status status = parts_.disk->Pin(key, keys, request.note());
  if (absl::IsResourceExhausted(status)) {
    return Failure{"PIN_LIMIT", std::string(status.message())};
  }
  if (!status.ok()) return StoreFailure(status);
  response->set_entries(static_cast<int64_t>(keys.size()));
  response->set_pinned_bytes(parts_.disk->pinned_bytes());
  return std::nullopt;
}

std::optional<Failure> CacheAdmin::Unpin(const v1::UnpinEntryRequest& request,
                                         v1::UnpinEntryResponse* response) {
  Key key;
  if (auto failure =
          ReadEntry(request.entry(), request.instance_name(), &key)) {
    return failure;
  }
  absl::Status status = parts_.disk->Unpin(key);
  if (absl::IsNotFound(status)) {
    return Failure{"NO_CACHE_ENTRY", key.hash + " is not pinned"};
  }
  if (!status.ok()) return StoreFailure(status);
  response->set_pinned_bytes(parts_.disk->pinned_bytes());
  return std::nullopt;
}

void CacheAdmin::Forget(const Key& key, v1::PurgeEntriesResponse* response) {
  int64_t size = std::max<int64_t>(parts_.disk->SizeOf(key), 0);
  absl::Status status = parts_.disk->Remove(key);
  if (status.ok()) {
    response->set_removed(response->removed() + 1);
    response->set_removed_bytes(response->removed_bytes() + size);
  } else if (absl::IsFailedPrecondition(status)) {
    response->set_kept(response->kept() + 1);
    return;
  }
  parts_.memory->Quarantine(key);  // out of the tier in front as well
}

std::optional<Failure> CacheAdmin::Purge(const v1::PurgeEntriesRequest& request,
                                         v1::PurgeEntriesResponse* response) {
  if (request.everything()) {
    if (auto failure = CheckInstance(request.instance_name())) return failure;
    for (const auto& entry : parts_.disk->Entries()) {
      if (entry.key.instance == request.instance_name()) {
        Forget(entry.key, response);
      }
    }
    return std::nullopt;
  }
  Key key;
  if (auto failure =
          ReadEntry(request.entry(), request.instance_name(), &key)) {
    return failure;
  }
  if (parts_.disk->SizeOf(key) < 0) return NoEntry(key.hash);
  std::vector<std::string> missing;
  for (const Key& one : WithBlobs(key, &missing)) Forget(one, response);
  return std::nullopt;
}

std::optional<Failure> CacheAdmin::Recall(const v1::RecallEntryRequest& request,
                                          v1::RecallEntryResponse*) {
  Key key;
  if (auto failure =
          ReadEntry(request.entry(), request.instance_name(), &key)) {
    return failure;
  }
  if (key.space == Space::kManifest) {
    return BadField("entry.kind", "is neither BLOB nor ACTION");
  }
  absl::Status status = request.undo()
                            ? parts_.recalls->Remove(key)
                            : parts_.recalls->Add(key, request.note());
  if (absl::IsNotFound(status)) {
    return Failure{"NO_CACHE_ENTRY", key.hash + " is not recalled"};
  }
  if (!status.ok()) return StoreFailure(status);
  return std::nullopt;
}

std::optional<Failure> CacheAdmin::Verify(
    const v1::VerifyEntriesRequest& request, Deadline deadline,
    v1::VerifyEntriesResponse* response) {
  const std::string& instance = request.instance_name();
  if (auto failure = CheckInstance(instance)) return failure;
  std::vector<Key> keys;
  if (request.has_entry()) {
    Key key;
    if (auto failure = ReadEntry(request.entry(), instance, &key)) {
      return failure;
    }
    if (parts_.disk->SizeOf(key) < 0) return NoEntry(key.hash);
    std::vector<std::string> missing;
    keys = WithBlobs(key, &missing);
  } else {
    for (const auto& entry : parts_.disk->Entries()) {
      if (entry.key.instance == instance) keys.push_back(entry.key);
    }
  }
  int64_t bytes = 0;
  auto pace = [&](int64_t piece) {
    bytes += piece;
    return std::chrono::steady_clock::now() < deadline;
  };
  response->set_complete(true);
  for (const Key& key : keys) {
    absl::Status status = CheckEntry(parts_.disk, key, pace);
    if (absl::IsCancelled(status)) {
      response->set_complete(false);
      break;
    }
    if (absl::IsNotFound(status)) continue;  // evicted meanwhile
    response->set_checked(response->checked() + 1);
    if (!status.ok()) {
      *response->add_wrong() = EntryOf(key);
      parts_.memory->Quarantine(key);
    }
  }
  response->set_checked_bytes(bytes);
  std::string prefix = FlatName({Space::kBlob, "", instance});
  prefix.resize(prefix.find('~') + 1);
  for (const auto& item : parts_.disk->quarantine().Items()) {
    if (item.name.compare(0, prefix.size(), prefix) == 0) {
      response->add_quarantine(item.name);
    }
  }
  return std::nullopt;
}

}  // namespace fold
