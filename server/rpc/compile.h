// Compile: check the request, look into the cache, join or start the compile,
// stream what it says and then its result.
#ifndef FOLD_SERVER_RPC_COMPILE_H_
#define FOLD_SERVER_RPC_COMPILE_H_

#include "grpcpp/support/server_callback.h"
#include "proto/foldd/v1/compiler_service.pb.h"
#include "server/rpc/service_parts.h"

namespace fold {

// The reactor of one call; deletes itself. `request` lives as long as the call.
grpc::ServerWriteReactor<foldd::v1::CompileEvent>* StartCompile(
    const ServiceParts* parts, const foldd::v1::CompileRequest* request);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_COMPILE_H_
