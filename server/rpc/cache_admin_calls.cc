#include "server/rpc/cache_admin_calls.h"

#include <algorithm>

#include "server/rpc/compile_request.h"
#include "server/rpc/status.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

// That a check of entries goes on at most in one call, and what it leaves of
// the caller's time for the answer.
constexpr std::chrono::seconds kLongestVerify{3600};
constexpr std::chrono::milliseconds kAnswerTime{500};

grpc::Status Answer(const std::optional<Failure>& failure) {
  return failure ? ToStatus(*failure) : grpc::Status::OK;
}

}  // namespace

grpc::Status GetCacheStats(Call& call, const v1::GetCacheStatsRequest& request,
                           v1::GetCacheStatsResponse* response) {
  return Answer(call.parts().cache_admin->Stats(request, response));
}

grpc::Status ExplainAction(Call& call, const v1::ExplainActionRequest& request,
                           v1::ExplainActionResponse* response) {
  CacheAdmin* admin = call.parts().cache_admin;
  if (!request.has_request()) {
    return Answer(admin->Explain(request.action_digest(),
                                 request.instance_name(), response));
  }
  CompileRequestSpec spec;
  auto failure = ReadCompileRequest(request.request(), call.parts(), &spec);
  if (failure) return ToStatus(*failure);
  return Answer(
      admin->Explain(spec.job.action, request.instance_name(), response));
}

grpc::Status PinEntry(Call& call, const v1::PinEntryRequest& request,
                      v1::PinEntryResponse* response) {
  return Answer(call.parts().cache_admin->Pin(request, response));
}

grpc::Status UnpinEntry(Call& call, const v1::UnpinEntryRequest& request,
                        v1::UnpinEntryResponse* response) {
  return Answer(call.parts().cache_admin->Unpin(request, response));
}

grpc::Status PurgeEntries(Call& call, const v1::PurgeEntriesRequest& request,
                          v1::PurgeEntriesResponse* response) {
  return Answer(call.parts().cache_admin->Purge(request, response));
}

grpc::Status RecallEntry(Call& call, const v1::RecallEntryRequest& request,
                         v1::RecallEntryResponse* response) {
  return Answer(call.parts().cache_admin->Recall(request, response));
}

grpc::Status VerifyEntries(Call& call, const v1::VerifyEntriesRequest& request,
                           v1::VerifyEntriesResponse* response) {
  auto now = std::chrono::system_clock::now();
  // The end of time, if the caller did not say, is further than can be added.
  auto end = std::min(call.deadline(), now + kLongestVerify) - kAnswerTime;
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - now);
  return Answer(call.parts().cache_admin->Verify(
      request, std::chrono::steady_clock::now() + left, response));
}

}  // namespace fold
