#include "server/rpc/action_cache.h"

#include "server/rpc/blob_names.h"
#include "server/rpc/cas.h"
#include "server/rpc/status.h"

namespace fold {
namespace {

namespace reapi = build::bazel::remote::execution::v2;

// Errors of an action's own program have no place in a cache.
std::optional<Failure> CheckResult(const reapi::ActionResult& result) {
  if (result.exit_code() != 0) {
    return Failure{"BAD_REQUEST",
                   "action_result.exit_code: only successes are kept"};
  }
  return std::nullopt;
}

}  // namespace

grpc::Status GetActionResult(Call& call,
                             const reapi::GetActionResultRequest& request,
                             reapi::ActionResult* response) {
  if (auto failure = CheckDigest("action_digest", request.action_digest())) {
    return ToStatus(*failure);
  }
  auto failure = call.parts().cache->GetActionResult(
      {request.action_digest().hash(), request.action_digest().size_bytes(),
       request.instance_name()},
      response);
  return failure ? ToStatus(*failure) : grpc::Status::OK;
}

grpc::Status UpdateActionResult(Call& call,
                                const reapi::UpdateActionResultRequest& request,
                                reapi::ActionResult* response) {
  auto failure = CheckDigest("action_digest", request.action_digest());
  if (!failure) failure = CheckResult(request.action_result());
  if (!failure) {
    failure = call.parts().cache->UpdateActionResult(
        {request.action_digest().hash(), request.action_digest().size_bytes(),
         request.instance_name()},
        request.action_result());
  }
  if (failure) return ToStatus(*failure);
  *response = request.action_result();
  return grpc::Status::OK;
}

grpc::Status GetCapabilities(Call& call, const reapi::GetCapabilitiesRequest&,
                             reapi::ServerCapabilities* response) {
  const Config& config = *call.parts().config;
  auto* cache = response->mutable_cache_capabilities();
  cache->add_digest_functions(reapi::DigestFunction::SHA256);
  cache->mutable_action_cache_update_capabilities()->set_update_enabled(
      call.principal().role >= Role::kAdminister);
  cache->set_max_batch_total_size_bytes(MaxBatchBytes(config));
  cache->set_max_cas_blob_size_bytes(config.max_blob_bytes);
  cache->set_symlink_absolute_path_strategy(
      reapi::SymlinkAbsolutePathStrategy::DISALLOWED);
  cache->add_supported_compressors(reapi::Compressor::IDENTITY);
  cache->add_supported_batch_update_compressors(reapi::Compressor::IDENTITY);
  response->mutable_low_api_version()->set_major(2);
  response->mutable_high_api_version()->set_major(2);
  return grpc::Status::OK;
}

}  // namespace fold
