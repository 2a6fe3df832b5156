// build.bazel.remote.execution.v2.ActionCache and Capabilities.
#ifndef FOLD_SERVER_RPC_ACTION_CACHE_H_
#define FOLD_SERVER_RPC_ACTION_CACHE_H_

#include "proto/build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "server/rpc/call.h"

namespace fold {

grpc::Status GetActionResult(
    Call& call,
    const build::bazel::remote::execution::v2::GetActionResultRequest& request,
    build::bazel::remote::execution::v2::ActionResult* response);
grpc::Status UpdateActionResult(
    Call& call,
    const build::bazel::remote::execution::v2::UpdateActionResultRequest&
        request,
    build::bazel::remote::execution::v2::ActionResult* response);
grpc::Status GetCapabilities(
    Call& call,
    const build::bazel::remote::execution::v2::GetCapabilitiesRequest& request,
    build::bazel::remote::execution::v2::ServerCapabilities* response);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_ACTION_CACHE_H_
