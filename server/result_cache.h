// What compiles gave, by action, and the manifests of each model. An action's
// entry names the blobs of its outputs, and is an answer only if all of them
// are there; they are held until the answer is let go.
#ifndef FOLD_SERVER_RESULT_CACHE_H_
#define FOLD_SERVER_RESULT_CACHE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/api/action.h"
#include "proto/build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "proto/foldd/v1/report.pb.h"
#include "server/cache/blob_cache.h"
#include "server/cache/single_flight.h"
#include "server/cache/store.h"
#include "server/failure.h"

namespace fold {

// An action in a namespace.
struct ActionName {
  std::string hash;
  int64_t size_bytes = -1;  // of the Action message; -1: not known
  std::string instance;
};

// The part of a result that does not depend on the run. `report` has an
// action_digest and no `run`. Copies share the leases.
struct CachedResult {
  // Null if it is larger than the cache gives whole: read it in pieces, with
  // BlobCache::Open, under `artifact_digest`.
  Bytes artifact;
  std::shared_ptr<const foldd::v1::CompileReport> report;
  std::string dump;
  Digest artifact_digest;  // empty in what is still to be saved
  // Of all blobs of the result.
  std::shared_ptr<const std::vector<Lease>> leases;
};

// The tiers and lists that a ResultCache may use besides its store.
struct ResultCacheParts {
  BlobCache* blobs = nullptr;    // for reads in pieces, and for fetches
  RemoteTier* remote = nullptr;  // needs `blobs`
  const RecallList* recalls = nullptr;
  // Larger artifacts are not read whole.
  int64_t whole_artifact_bytes = INT64_MAX;
};

class ResultCache {
 public:
  // Owns none of these.
  explicit ResultCache(Store* store, ResultCacheParts parts = {})
      : store_(store), parts_(parts) {}

  // The answer to an action, with all of its blobs held. Nothing where one of
  // them is missing or recalled, or the entry is not that of a compile. Asks
  // the remote tier, within its time, if the size of the action is known.
  std::optional<CachedResult> Find(const ActionName& action);
  std::optional<CachedResult> Find(const std::string& action_hash) {
    return Find(ActionName{action_hash});
  }
  // Blobs first, the action's entry last; then the remote tier's copy, in the
  // background. With `made_of` also the messages that the action consists of,
  // for people who ask what it was (foldctl cache explain).
  absl::Status Save(const ActionName& action, const CachedResult& result,
                    const CompileAction* made_of = nullptr);
  absl::Status Save(const std::string& action_hash,
                    const CachedResult& result) {
    return Save(ActionName{action_hash}, result);
  }

  // Why an action, or an artifact that came out of it, must not be given out:
  // ARTIFACT_RECALLED. Before the lookup and again with what a compile made;
  // an empty `artifact_hash` stands for none yet.
  std::optional<Failure> Recalled(const ActionName& action,
                                  const std::string& artifact_hash = "") const;

  // The API's ActionCache. Get fails with NO_ACTION_RESULT also where a blob
  // is gone; those that are there are leased. Update fails with BLOBS_MISSING,
  // which names them.
  std::optional<Failure> GetActionResult(
      const ActionName& action,
      build::bazel::remote::execution::v2::ActionResult* result);
  std::optional<Failure> UpdateActionResult(
      const ActionName& action,
      build::bazel::remote::execution::v2::ActionResult result);

  // Adds a manifest to its model's, in place of an older one of the same
  // action.
  absl::Status AddManifest(const foldd::v1::Manifest& manifest,
                           const std::string& instance = "");
  // The newest manifest for the first of `compatible` that has one whose
  // artifact is there and not recalled.
  std::optional<foldd::v1::Manifest> Resolve(
      const std::string& model_hash, std::span<const std::string> compatible,
      const std::string& instance = "");
  // All manifests of a model, oldest first.
  foldd::v1::ManifestList Manifests(const std::string& model_hash,
                                    const std::string& instance = "");

 private:
  using ActionResult = build::bazel::remote::execution::v2::ActionResult;
  struct Held {
    ActionResult result;
    std::vector<Lease> leases;
    std::vector<SizedKey> blobs;
  };

  std::optional<ActionResult> ReadEntry(const Key& key);
  // Holds all blobs of `result`; NOT_FOUND with the name of one that is gone.
  absl::StatusOr<Held> HoldAll(ActionResult result,
                               const std::string& instance);
  absl::StatusOr<std::string> ReadSmall(const SizedKey& blob);
  // The entry and its blobs, from here or else from the remote tier.
  std::optional<Held> Look(const ActionName& action);
  bool Pull(const ActionName& action);
  absl::Status PullOnce(const ActionName& action,
                        RemoteTier::Deadline deadline);
  std::optional<CachedResult> Answer(Held held, const std::string& instance);
  absl::Status SaveParts(const CompileAction& made_of,
                         const std::string& instance);
  void SendLater(const ActionName& action, const std::string& entry,
                 std::vector<SizedKey> blobs);

  Store* const store_;
  const ResultCacheParts parts_;
  SingleFlight pulls_;
  std::mutex manifest_mutex_;  // between reading and writing a list
};

}  // namespace fold

#endif  // FOLD_SERVER_RESULT_CACHE_H_
