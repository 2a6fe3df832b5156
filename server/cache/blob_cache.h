// Blobs through all tiers: what RPCs and jobs use. What an operator recalled
// is refused here (FAILED_PRECONDITION), whatever tier has it.
#ifndef FOLD_SERVER_CACHE_BLOB_CACHE_H_
#define FOLD_SERVER_CACHE_BLOB_CACHE_H_

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "server/cache/blob_stream.h"
#include "server/cache/disk_store.h"
#include "server/cache/lease.h"
#include "server/cache/recall_list.h"
#include "server/cache/remote_tier.h"
#include "server/cache/single_flight.h"

namespace fold {

// The blob of no bytes, which is always there.
bool IsEmptyBlob(const Key& key);

class BlobCache {
 public:
  // Owns none of these; `recalls` and `remote` may be null. Blobs are leased
  // for `lease_seconds` from when somebody asked for them or sent them.
  BlobCache(DiskStore* disk, const RecallList* recalls, RemoteTier* remote,
            int64_t lease_seconds);

  // Those of `keys` that are not here; what is here is leased. Asks no remote
  // tier: what is only there could be gone when it is needed.
  std::vector<Key> Missing(std::span<const Key> keys);

  // A reader of the blob. If it is not here and its `size` is known, it is
  // fetched first, which may take as long as the remote tier may. NOT_FOUND;
  // FAILED_PRECONDITION: recalled.
  absl::StatusOr<std::unique_ptr<BlobReader>> Open(const Key& key,
                                                   int64_t size = -1);
  // A writer of a blob of `size` bytes; once finished it is leased.
  // RESOURCE_EXHAUSTED; FAILED_PRECONDITION: recalled.
  absl::StatusOr<std::unique_ptr<BlobWriter>> Create(const Key& key,
                                                     int64_t size);
  // Keeps the blob for as long as the lease lives. Fetches it as Open does.
  std::optional<Lease> Hold(const Key& key, int64_t size = -1);
  // Bytes of a blob that is here; -1: it is not.
  int64_t SizeOf(const Key& key) const { return disk_->SizeOf(key); }

  // Brings the blob here, if it is not: at most until `deadline`. Callers that
  // want the same blob share one fetch. NOT_FOUND; DATA_LOSS: the remote tier
  // has other bytes under that name.
  absl::Status Fetch(const Key& key, int64_t size,
                     std::chrono::steady_clock::time_point deadline);

 private:
  bool Here(const Key& key);
  RemoteTier::Deadline NewDeadline() const;

  DiskStore* const disk_;
  const RecallList* const recalls_;
  RemoteTier* const remote_;
  const int64_t lease_seconds_;
  SingleFlight fetches_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_BLOB_CACHE_H_
