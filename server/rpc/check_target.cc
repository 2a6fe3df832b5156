#include "server/rpc/check_target.h"

#include "compiler/api/convert.h"

namespace fold {

grpc::Status CheckTarget(Call& call,
                         const foldd::v1::CheckTargetRequest& request,
                         foldd::v1::CheckTargetResponse* response) {
  for (const TargetProblem& problem : CheckTargetMessage(request.target())) {
    foldd::v1::FieldProblem* out = response->add_problems();
    out->set_field(problem.field);
    out->set_message(problem.message);
  }
  return grpc::Status::OK;
}

}  // namespace fold
