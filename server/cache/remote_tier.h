// What the cache asks of a tier on another machine. All calls end within a
// limit of their own; a tier that fails is as one that has nothing.
#ifndef FOLD_SERVER_CACHE_REMOTE_TIER_H_
#define FOLD_SERVER_CACHE_REMOTE_TIER_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/cache/blob_stream.h"
#include "server/cache/store.h"

namespace fold {

struct SizedKey {
  Key key;
  int64_t size = 0;  // bytes
};

class RemoteTier {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  virtual ~RemoteTier() = default;
  // Until when a caller that starts now may be kept waiting.
  virtual Deadline NewDeadline() const = 0;
  // Appends the blob to `into`, which checks it, and finishes it. NOT_FOUND;
  // UNAVAILABLE: the tier is not used now; INVALID_ARGUMENT: wrong bytes.
  virtual absl::Status FetchBlob(const SizedKey& blob, Deadline deadline,
                                 BlobWriter* into) = 0;
  // The entry of an action, as bytes of an ActionResult. `action` has the
  // size of the Action message.
  virtual absl::StatusOr<std::string> FetchAction(const SizedKey& action,
                                                  Deadline deadline) = 0;
  // Sends an action's entry, after the blobs that it names, when there is
  // time; it may be dropped. Never waits.
  virtual void SendLater(const SizedKey& action, std::string entry,
                         std::vector<SizedKey> blobs) = 0;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_REMOTE_TIER_H_
