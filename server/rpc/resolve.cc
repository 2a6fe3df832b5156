#include "server/rpc/resolve.h"

#include "compiler/api/sha256.h"
#include "server/rpc/status.h"

namespace fold {
namespace {

// A device has few names.
constexpr int kMaxCompatible = 64;

}  // namespace

grpc::Status Resolve(Call& call, const foldd::v1::ResolveRequest& request,
                     foldd::v1::ResolveResponse* response) {
  Failure bad = {"BAD_REQUEST", "the request is at fault"};
  if (!IsSha256Hex(request.model_digest())) {
    bad.violations.push_back(
        {"model_digest", "must be 64 lower-case hexadecimal digits"});
  }
  if (request.compatible().empty() ||
      request.compatible_size() > kMaxCompatible) {
    bad.violations.push_back({"compatible", "must have 1 to 64 strings"});
  }
  if (!bad.violations.empty()) return ToStatus(bad);
  std::vector<std::string> compatible(request.compatible().begin(),
                                      request.compatible().end());
  auto manifest =
      call.parts().cache->Resolve(request.model_digest(), compatible);
  if (!manifest) {
    return ToStatus({"NO_ARTIFACT",
                     "no artifact of this model for this device is in the "
                     "cache: compile it first",
                     {{"model_digest", request.model_digest()}}});
  }
  *response->mutable_manifest() = std::move(*manifest);
  return grpc::Status::OK;
}

}  // namespace fold
