#include "server/rpc/list_targets.h"

namespace fold {

grpc::Status ListTargets(const ServiceParts& parts,
                         foldd::v1::ListTargetsResponse* response) {
  for (const auto& [name, target] : parts.targets->all()) {
    *response->add_targets() = target;
  }
  return grpc::Status::OK;
}

}  // namespace fold
