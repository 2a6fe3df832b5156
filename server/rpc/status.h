// A failure as a gRPC status with google.rpc details: ErrorInfo always;
// BadRequest, PreconditionFailure, QuotaFailure and RetryInfo where they apply.
#ifndef FOLD_SERVER_RPC_STATUS_H_
#define FOLD_SERVER_RPC_STATUS_H_

#include <string>

#include "grpcpp/support/status.h"
#include "server/failure.h"

namespace fold {

grpc::Status ToStatus(const Failure& failure);

// "INVALID_ARGUMENT", for metrics and logs.
std::string CodeName(grpc::StatusCode code);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_STATUS_H_
