#include "server/rpc/service.h"

#include "server/rpc/call_record.h"
#include "server/rpc/check_target.h"
#include "server/rpc/compile.h"
#include "server/rpc/get_target.h"
#include "server/rpc/list_targets.h"
#include "server/rpc/resolve.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

// Answers at once.
template <typename Handler>
grpc::ServerUnaryReactor* Answer(const ServiceParts& parts,
                                 grpc::CallbackServerContext* context,
                                 const char* method, const Handler& handler) {
  CallRecord record(parts.metrics, method);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  grpc::Status status = handler();
  record.End(status.error_code());
  reactor->Finish(status);
  return reactor;
}

}  // namespace

grpc::ServerWriteReactor<v1::CompileEvent>* CompilerService::Compile(
    grpc::CallbackServerContext*, const v1::CompileRequest* request) {
  return StartCompile(&parts_, request);
}

grpc::ServerUnaryReactor* CompilerService::Resolve(
    grpc::CallbackServerContext* context, const v1::ResolveRequest* request,
    v1::ResolveResponse* response) {
  CallRecord record(parts_.metrics, "Resolve");
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  bool taken = parts_.lookups->Submit([=, this]() mutable {
    grpc::Status status = fold::Resolve(parts_, *request, response);
    record.End(status.error_code());
    reactor->Finish(status);
  });
  if (!taken) {
    grpc::Status status =
        ToStatus({"QUEUE_FULL", "too many requests wait to be looked up"});
    record.End(status.error_code());
    reactor->Finish(status);
  }
  return reactor;
}

grpc::ServerUnaryReactor* CompilerService::ListTargets(
    grpc::CallbackServerContext* context, const v1::ListTargetsRequest*,
    v1::ListTargetsResponse* response) {
  return Answer(parts_, context, "ListTargets",
                [&] { return fold::ListTargets(parts_, response); });
}

grpc::ServerUnaryReactor* CompilerService::GetTarget(
    grpc::CallbackServerContext* context, const v1::GetTargetRequest* request,
    v1::GetTargetResponse* response) {
  return Answer(parts_, context, "GetTarget",
                [&] { return fold::GetTarget(parts_, *request, response); });
}

grpc::ServerUnaryReactor* CompilerService::CheckTarget(
    grpc::CallbackServerContext* context, const v1::CheckTargetRequest* request,
    v1::CheckTargetResponse* response) {
  return Answer(parts_, context, "CheckTarget",
                [&] { return fold::CheckTarget(*request, response); });
}

}  // namespace fold
