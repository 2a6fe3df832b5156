// CheckTarget: all faults of a descriptor, field by field.
#ifndef FOLD_SERVER_RPC_CHECK_TARGET_H_
#define FOLD_SERVER_RPC_CHECK_TARGET_H_

#include "grpcpp/support/status.h"
#include "proto/foldd/v1/compiler_service.pb.h"
#include "server/rpc/call.h"

namespace fold {

grpc::Status CheckTarget(Call& call,
                         const foldd::v1::CheckTargetRequest& request,
                         foldd::v1::CheckTargetResponse* response);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_CHECK_TARGET_H_
