// grpc.reflection.v1alpha.ServerReflection, as grpcurl asks it. gRPC's own
// plugin cannot describe a server whose methods go through a dispatcher, nor
// ask who calls.
#ifndef FOLD_SERVER_RPC_REFLECTION_H_
#define FOLD_SERVER_RPC_REFLECTION_H_

#include <memory>

#include "server/rpc/call.h"

namespace fold {

std::unique_ptr<CallHandler> MakeReflection(Call* call);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_REFLECTION_H_
