// ListTargets: every target that can be named.
#ifndef FOLD_SERVER_RPC_LIST_TARGETS_H_
#define FOLD_SERVER_RPC_LIST_TARGETS_H_

#include "grpcpp/support/status.h"
#include "proto/foldd/v1/compiler_service.pb.h"
#include "server/rpc/call.h"

namespace fold {

grpc::Status ListTargets(Call& call, const foldd::v1::ListTargetsRequest&,
                         foldd::v1::ListTargetsResponse* response);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_LIST_TARGETS_H_
