// StartCompile and google.longrunning.Operations.
#ifndef FOLD_SERVER_RPC_OPERATIONS_H_
#define FOLD_SERVER_RPC_OPERATIONS_H_

#include <memory>

#include "google/protobuf/empty.pb.h"
#include "proto/foldd/v1/compiler_service.pb.h"
#include "proto/google/longrunning/operations.pb.h"
#include "server/rpc/call.h"

namespace fold {

grpc::Status StartCompile(Call& call, const foldd::v1::CompileRequest& request,
                          google::longrunning::Operation* response);
grpc::Status GetOperation(
    Call& call, const google::longrunning::GetOperationRequest& request,
    google::longrunning::Operation* response);
grpc::Status ListOperations(
    Call& call, const google::longrunning::ListOperationsRequest& request,
    google::longrunning::ListOperationsResponse* response);
grpc::Status CancelOperation(
    Call& call, const google::longrunning::CancelOperationRequest& request,
    google::protobuf::Empty* response);
grpc::Status DeleteOperation(
    Call& call, const google::longrunning::DeleteOperationRequest& request,
    google::protobuf::Empty* response);
std::unique_ptr<CallHandler> MakeWaitOperation(Call* call);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_OPERATIONS_H_
