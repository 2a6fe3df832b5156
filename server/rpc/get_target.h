// GetTarget: one target by name.
#ifndef FOLD_SERVER_RPC_GET_TARGET_H_
#define FOLD_SERVER_RPC_GET_TARGET_H_

#include "grpcpp/support/status.h"
#include "proto/foldd/v1/compiler_service.pb.h"
#include "server/rpc/call.h"

namespace fold {

grpc::Status GetTarget(Call& call, const foldd::v1::GetTargetRequest& request,
                       foldd::v1::GetTargetResponse* response);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_GET_TARGET_H_
