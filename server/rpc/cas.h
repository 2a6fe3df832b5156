// build.bazel.remote.execution.v2.ContentAddressableStorage: which blobs are
// here, and small ones several at a time.
#ifndef FOLD_SERVER_RPC_CAS_H_
#define FOLD_SERVER_RPC_CAS_H_

#include <memory>

#include "proto/build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "server/rpc/call.h"

namespace fold {

// A blob that is in memory, through all tiers. As BlobCache::Create, and
// INVALID_ARGUMENT: these are not the bytes of the key.
absl::Status WriteBlob(BlobCache* blobs, const Key& key,
                       const std::string& bytes);

// Bytes of all blobs in one batch: what fits in a message beside the rest.
int64_t MaxBatchBytes(const Config& config);

grpc::Status FindMissingBlobs(
    Call& call,
    const build::bazel::remote::execution::v2::FindMissingBlobsRequest& request,
    build::bazel::remote::execution::v2::FindMissingBlobsResponse* response);
grpc::Status BatchUpdateBlobs(
    Call& call,
    const build::bazel::remote::execution::v2::BatchUpdateBlobsRequest& request,
    build::bazel::remote::execution::v2::BatchUpdateBlobsResponse* response);
grpc::Status BatchReadBlobs(
    Call& call,
    const build::bazel::remote::execution::v2::BatchReadBlobsRequest& request,
    build::bazel::remote::execution::v2::BatchReadBlobsResponse* response);
std::unique_ptr<CallHandler> MakeGetTree(Call* call);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_CAS_H_
