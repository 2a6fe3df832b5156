// Resolve: the artifact of a model for a device, from the cache.
#ifndef FOLD_SERVER_RPC_RESOLVE_H_
#define FOLD_SERVER_RPC_RESOLVE_H_

#include "grpcpp/support/status.h"
#include "proto/foldd/v1/compiler_service.pb.h"
#include "server/rpc/call.h"

namespace fold {

// May read the disk.
grpc::Status Resolve(Call& call, const foldd::v1::ResolveRequest& request,
                     foldd::v1::ResolveResponse* response);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_RESOLVE_H_
