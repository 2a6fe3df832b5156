// Which blobs an action's result names: all of them must be there before it is
// an answer.
#ifndef FOLD_SERVER_ACTION_BLOBS_H_
#define FOLD_SERVER_ACTION_BLOBS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "server/cache/blob_cache.h"
#include "server/cache/remote_tier.h"

namespace fold {

// Whether `digest` is the name of a blob: SHA-256 in lower case, a size.
bool IsDigest(const build::bazel::remote::execution::v2::Digest& digest);

// Reads a small blob whole.
using BlobSource = std::function<absl::StatusOr<std::string>(const SizedKey&)>;

// Calls `visit` for every blob that `result` names, a Tree before what stands
// in it, which is read with `read_tree`. Stops at the first error.
// INVALID_ARGUMENT: it names something that is no digest, or too much.
absl::Status VisitNamedBlobs(
    const build::bazel::remote::execution::v2::ActionResult& result,
    const std::string& instance, const BlobSource& read_tree,
    const std::function<absl::Status(const SizedKey&)>& visit);

}  // namespace fold

#endif  // FOLD_SERVER_ACTION_BLOBS_H_
