// The service foldd.v1.Compiler: hands each RPC to its file and records it.
#ifndef FOLD_SERVER_RPC_SERVICE_H_
#define FOLD_SERVER_RPC_SERVICE_H_

#include "proto/foldd/v1/compiler_service.grpc.pb.h"
#include "server/rpc/service_parts.h"

namespace fold {

class CompilerService : public foldd::v1::Compiler::CallbackService {
 public:
  explicit CompilerService(ServiceParts parts) : parts_(std::move(parts)) {}

  grpc::ServerWriteReactor<foldd::v1::CompileEvent>* Compile(
      grpc::CallbackServerContext* context,
      const foldd::v1::CompileRequest* request) override;
  grpc::ServerUnaryReactor* Resolve(
      grpc::CallbackServerContext* context,
      const foldd::v1::ResolveRequest* request,
      foldd::v1::ResolveResponse* response) override;
  grpc::ServerUnaryReactor* ListTargets(
      grpc::CallbackServerContext* context,
      const foldd::v1::ListTargetsRequest* request,
      foldd::v1::ListTargetsResponse* response) override;
  grpc::ServerUnaryReactor* GetTarget(
      grpc::CallbackServerContext* context,
      const foldd::v1::GetTargetRequest* request,
      foldd::v1::GetTargetResponse* response) override;
  grpc::ServerUnaryReactor* CheckTarget(
      grpc::CallbackServerContext* context,
      const foldd::v1::CheckTargetRequest* request,
      foldd::v1::CheckTargetResponse* response) override;

 private:
  const ServiceParts parts_;
};

}  // namespace fold

#endif  // FOLD_SERVER_RPC_SERVICE_H_
