// Checks a CompileRequest and makes the work of it.
#ifndef FOLD_SERVER_RPC_COMPILE_REQUEST_H_
#define FOLD_SERVER_RPC_COMPILE_REQUEST_H_

#include <optional>

#include "proto/foldd/v1/compiler_service.pb.h"
#include "server/failure.h"
#include "server/rpc/service_parts.h"
#include "server/scheduler.h"

namespace fold {

// Fills `spec` from a request, with the action's digest; all faults of the
// request at once. The model is hashed, and neither looked into nor copied:
// `spec->job.model` stays null.
std::optional<Failure> ReadCompileRequest(
    const foldd::v1::CompileRequest& request, const ServiceParts& parts,
    CompileRequestSpec* spec);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_COMPILE_REQUEST_H_
