// A CompileRequest, checked and made into what the scheduler runs.
#ifndef FOLD_SERVER_RPC_COMPILE_REQUEST_H_
#define FOLD_SERVER_RPC_COMPILE_REQUEST_H_

#include <optional>
#include <string>

#include "proto/foldd/v1/compiler_service.pb.h"
#include "server/failure.h"
#include "server/rpc/service_parts.h"
#include "server/scheduler.h"

namespace fold {

// Checks all fields and builds the action; `spec` has no inputs yet. A Failure
// names every field that is at fault.
std::optional<Failure> ReadCompileRequest(
    const foldd::v1::CompileRequest& request, const ServiceParts& parts,
    CompileRequestSpec* spec);

// Gives `spec` its inputs, and holds those that are blobs. BLOBS_MISSING names
// all that are not there. May wait for a remote tier.
std::optional<Failure> CollectInputs(const foldd::v1::CompileRequest& request,
                                     const ServiceParts& parts,
                                     CompileRequestSpec* spec);

// Gives `spec` the answer, held, if the cache has one that it may be answered
// with, and its inputs otherwise. BLOBS_MISSING as above.
std::optional<Failure> FindAnswerOrInputs(
    const foldd::v1::CompileRequest& request, const ServiceParts& parts,
    CompileRequestSpec* spec);

// The hash of what is asked for, whoever asks and however the model comes: the
// same for a request that is sent again.
std::string ContentHash(const foldd::v1::CompileRequest& request);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_COMPILE_REQUEST_H_
