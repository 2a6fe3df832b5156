// The cache of a server, put together: the folder, the tier in memory, the
// remote tier, the recall list, and what looks results and blobs up in them.
#ifndef FOLD_SERVER_CACHE_STACK_H_
#define FOLD_SERVER_CACHE_STACK_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/cache/blob_cache.h"
#include "server/cache/store.h"
#include "server/cache_admin.h"
#include "server/config.h"
#include "server/metrics.h"
#include "server/result_cache.h"

namespace fold {

class CacheStack {
 public:
  // Opens ROOT, or says what is in the way. Does not own `metrics`, which
  // hears of every tier.
  static absl::StatusOr<std::unique_ptr<CacheStack>> Open(
      const Config& config, const std::string& root, Metrics* metrics);
  ~CacheStack();

  ResultCache* results();  // through all tiers; may wait for the remote one
  ResultCache* hot();      // what is in memory; never waits
  BlobCache* blobs();      // in pieces
  Store* store();          // whole entries of the local tiers, checked
  CacheAdmin* admin();

  // OK, or why nothing can be kept.
  absl::Status Health() const;
  void RefreshGauges();
  // Sends what waits for the remote tier, at most so long; whether all went.
  bool Drain(std::chrono::milliseconds limit);

 private:
  struct Parts;
  explicit CacheStack(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_STACK_H_
