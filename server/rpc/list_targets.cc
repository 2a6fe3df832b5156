#include "server/rpc/list_targets.h"

namespace fold {

grpc::Status ListTargets(Call& call, const foldd::v1::ListTargetsRequest&,
                         foldd::v1::ListTargetsResponse* response) {
  for (const auto& [name, target] : call.parts().targets->all()) {
    *response->add_targets() = target;
  }
  return grpc::Status::OK;
}

}  // namespace fold
