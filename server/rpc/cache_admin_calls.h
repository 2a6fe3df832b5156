// The calls of foldd.v1.Cache. All may read the disk; VerifyEntries reads until
// the call's deadline.
#ifndef FOLD_SERVER_RPC_CACHE_ADMIN_CALLS_H_
#define FOLD_SERVER_RPC_CACHE_ADMIN_CALLS_H_

#include "grpcpp/support/status.h"
#include "proto/foldd/v1/cache_service.pb.h"
#include "server/rpc/call.h"

namespace fold {

grpc::Status GetCacheStats(Call& call,
                           const foldd::v1::GetCacheStatsRequest& request,
                           foldd::v1::GetCacheStatsResponse* response);
grpc::Status ExplainAction(Call& call,
                           const foldd::v1::ExplainActionRequest& request,
                           foldd::v1::ExplainActionResponse* response);
grpc::Status PinEntry(Call& call, const foldd::v1::PinEntryRequest& request,
                      foldd::v1::PinEntryResponse* response);
grpc::Status UnpinEntry(Call& call, const foldd::v1::UnpinEntryRequest& request,
                        foldd::v1::UnpinEntryResponse* response);
grpc::Status PurgeEntries(Call& call,
                          const foldd::v1::PurgeEntriesRequest& request,
                          foldd::v1::PurgeEntriesResponse* response);
grpc::Status RecallEntry(Call& call,
                         const foldd::v1::RecallEntryRequest& request,
                         foldd::v1::RecallEntryResponse* response);
grpc::Status VerifyEntries(Call& call,
                           const foldd::v1::VerifyEntriesRequest& request,
                           foldd::v1::VerifyEntriesResponse* response);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_CACHE_ADMIN_CALLS_H_
