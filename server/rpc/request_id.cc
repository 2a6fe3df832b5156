#include "server/rpc/request_id.h"

#include "server/rpc/compile_request.h"

namespace fold {

std::optional<Failure> BindRequestId(const Call& call,
                                     const foldd::v1::CompileRequest& request,
                                     CompileRequestSpec* spec, bool* repeated) {
  if (request.request_id().empty()) return std::nullopt;
  std::string content = ContentHash(request);
  auto bound = call.parts().operation_store->Bind(
      request.instance_name(), call.principal().name, request.request_id(),
      content, spec->job.action.digest.hash());
  if (!bound.ok()) {
    return Failure{absl::IsResourceExhausted(bound.status()) ? "STORAGE_FULL"
                                                             : "STORAGE_FAILED",
                   std::string(bound.status().message())};
  }
  if (bound->content_hash != content) {
    return Failure{"REQUEST_ID_REUSED",
                   "request_id was used before, for another request",
                   {{"request_id", request.request_id()},
                    {"action_digest", bound->action_hash}}};
  }
  if (!bound->fresh) spec->fresh = false;
  if (repeated != nullptr) *repeated = !bound->fresh;
  return std::nullopt;
}

}  // namespace fold
