#include "server/rpc/get_target.h"

#include "server/rpc/status.h"

namespace fold {

grpc::Status GetTarget(Call& call, const foldd::v1::GetTargetRequest& request,
                       foldd::v1::GetTargetResponse* response) {
  const auto* target = call.parts().targets->Find(request.name());
  if (target == nullptr) {
    return ToStatus({"UNKNOWN_TARGET",
                     call.parts().targets->Unknown(request.name()),
                     {{"target", request.name()}}});
  }
  *response->mutable_target() = *target;
  return grpc::Status::OK;
}

}  // namespace fold
