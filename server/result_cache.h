// What compiles gave, by action, and the manifests of each model, kept in a
// Store: an action's entry names the blobs of its outputs, and is an answer
// only if all of them are there.
#ifndef FOLD_SERVER_RESULT_CACHE_H_
#define FOLD_SERVER_RESULT_CACHE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "proto/foldd/v1/report.pb.h"
#include "server/cache/store.h"

namespace fold {

// The part of a result that does not depend on the run. `report` has an
// action_digest and no `run`.
struct CachedResult {
  Bytes artifact;
  std::shared_ptr<const foldd::v1::CompileReport> report;
  std::string dump;
};

class ResultCache {
 public:
  // Does not own `store`.
  explicit ResultCache(Store* store) : store_(store) {}

  std::optional<CachedResult> Find(const std::string& action_hash);
  // Blobs first, the action's entry last.
  absl::Status Save(const std::string& action_hash, const CachedResult& result);

  // Adds a manifest to its model's, in place of an older one of the same
  // action.
  absl::Status AddManifest(const foldd::v1::Manifest& manifest);
  // The newest manifest for the first of `compatible` that has one whose
  // artifact is there.
  std::optional<foldd::v1::Manifest> Resolve(
      const std::string& model_hash, std::span<const std::string> compatible);

 private:
  foldd::v1::ManifestList ReadManifests(const std::string& model_hash);

  Store* store_;
  std::mutex manifest_mutex_;  // between reading and writing a list
};

}  // namespace fold

#endif  // FOLD_SERVER_RESULT_CACHE_H_
