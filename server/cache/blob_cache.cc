#include "server/cache/blob_cache.h"

namespace fold {
namespace {

constexpr char kEmptyHash[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
// Of the disk's limit, what one fetch may push out: the size is a stranger's
// word until all bytes are here.
constexpr int64_t kFetchShare = 4;

// Renews the lease of its blob, so that nothing can evict it between the
// rename and the first use.
class LeasingWriter : public BlobWriter {
 public:
  LeasingWriter(std::unique_ptr<BlobWriter> inner, DiskStore* disk, Key key,
                int64_t seconds)
      : inner_(std::move(inner)),
        disk_(disk),
        key_(std::move(key)),
        seconds_(seconds) {}
  absl::Status Append(std::string_view bytes) override {
    return inner_->Append(bytes);
  }
  int64_t committed() const override { return inner_->committed(); }
  absl::Status Finish() override {
    disk_->protection().LeaseFor(key_, seconds_);
    return inner_->Finish();
  }

 private:
  const std::unique_ptr<BlobWriter> inner_;
  DiskStore* const disk_;
  const Key key_;
  const int64_t seconds_;
};

}  // namespace

bool IsEmptyBlob(const Key& key) {
  return key.space == Space::kBlob && key.hash == kEmptyHash;
}

BlobCache::BlobCache(DiskStore* disk, const RecallList* recalls,
                     RemoteTier* remote, int64_t lease_seconds)
    : disk_(disk),
      recalls_(recalls),
      remote_(remote),
      lease_seconds_(lease_seconds) {}

std::vector<Key> BlobCache::Missing(std::span<const Key> keys) {
  std::vector<Key> missing;
  for (const Key& key : keys) {
    if (!disk_->TouchFor(key, lease_seconds_) && !IsEmptyBlob(key)) {
      missing.push_back(key);
    }
  }
  return missing;
}

// Whether the blob is on disk; the empty one is put there when asked for.
bool BlobCache::Here(const Key& key) {
  if (disk_->Touch(key)) return true;
  return IsEmptyBlob(key) &&
         disk_->Put(key, std::make_shared<const std::string>()).ok();
}

RemoteTier::Deadline BlobCache::NewDeadline() const {
  return remote_ == nullptr ? std::chrono::steady_clock::now()
                            : remote_->NewDeadline();
}

absl::Status BlobCache::Fetch(const Key& key, int64_t size,
                              RemoteTier::Deadline deadline) {
  if (Here(key)) return absl::OkStatus();
  if (remote_ == nullptr || size < 0 || key.space != Space::kBlob) {
    return absl::NotFoundError("not in the cache");
  }
  if (size > disk_->limit_bytes() / kFetchShare) {
    return absl::NotFoundError("too large to fetch");
  }
  return fetches_.Do(key, deadline, [&]() -> absl::Status {
    if (Here(key)) return absl::OkStatus();  // another's fetch has just ended
    auto writer = Create(key, size);
    if (!writer.ok()) return writer.status();
    return remote_->FetchBlob({key, size}, deadline, writer->get());
  });
}

absl::StatusOr<std::unique_ptr<BlobReader>> BlobCache::Open(const Key& key,
                                                            int64_t size) {
  if (recalls_ != nullptr && recalls_->Find(key)) {
    return absl::FailedPreconditionError("the blob is recalled");
  }
  auto reader = disk_->OpenBlob(key);
  if (!absl::IsNotFound(reader.status())) return reader;
  absl::Status fetched = Fetch(key, size, NewDeadline());
  if (!fetched.ok()) return absl::NotFoundError(fetched.message());
  return disk_->OpenBlob(key);
}

absl::StatusOr<std::unique_ptr<BlobWriter>> BlobCache::Create(const Key& key,
                                                              int64_t size) {
  if (recalls_ != nullptr && recalls_->Find(key)) {
    return absl::FailedPreconditionError("the blob is recalled");
  }
  auto writer = disk_->CreateBlob(key, size);
  if (!writer.ok()) return writer.status();
  return std::make_unique<LeasingWriter>(std::move(*writer), disk_, key,
                                         lease_seconds_);
}

std::optional<Lease> BlobCache::Hold(const Key& key, int64_t size) {
  if (recalls_ != nullptr && recalls_->Find(key)) return std::nullopt;
  std::optional<Lease> lease = disk_->Hold(key);
  if (lease) return lease;
  if (!Fetch(key, size, NewDeadline()).ok()) return std::nullopt;
  return disk_->Hold(key);
}

}  // namespace fold
