// What an operator may ask of the cache: the calls of foldd.v1.Cache, without
// the transport. Requests are checked here; who may ask is the caller's part.
#ifndef FOLD_SERVER_CACHE_ADMIN_H_
#define FOLD_SERVER_CACHE_ADMIN_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "compiler/api/action.h"
#include "proto/foldd/v1/cache_service.pb.h"
#include "server/cache/disk_store.h"
#include "server/cache/memory_store.h"
#include "server/cache/recall_list.h"
#include "server/failure.h"
#include "server/result_cache.h"

namespace fold {

struct CacheAdminParts {
  DiskStore* disk = nullptr;
  MemoryStore* memory = nullptr;
  int64_t memory_limit_bytes = 0;
  RecallList* recalls = nullptr;
  Store* store = nullptr;  // all local tiers, checked
  ResultCache* results = nullptr;
  std::function<std::string()> remote_state;  // "none", "used", "skipped"
};

class CacheAdmin {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  // Owns none of the parts.
  explicit CacheAdmin(CacheAdminParts parts) : parts_(std::move(parts)) {}

  std::optional<Failure> Stats(const foldd::v1::GetCacheStatsRequest& request,
                               foldd::v1::GetCacheStatsResponse* response);
  std::optional<Failure> Pin(const foldd::v1::PinEntryRequest& request,
                             foldd::v1::PinEntryResponse* response);
  std::optional<Failure> Unpin(const foldd::v1::UnpinEntryRequest& request,
                               foldd::v1::UnpinEntryResponse* response);
  std::optional<Failure> Purge(const foldd::v1::PurgeEntriesRequest& request,
                               foldd::v1::PurgeEntriesResponse* response);
  std::optional<Failure> Recall(const foldd::v1::RecallEntryRequest& request,
                                foldd::v1::RecallEntryResponse* response);
  // Stops at `deadline`; the response says whether it came to the end.
  std::optional<Failure> Verify(const foldd::v1::VerifyEntriesRequest& request,
                                Deadline deadline,
                                foldd::v1::VerifyEntriesResponse* response);
  // Of an action by its digest.
  std::optional<Failure> Explain(const std::string& action_hash,
                                 const std::string& instance,
                                 foldd::v1::ExplainActionResponse* response);
  // Of an action that a request stands for.
  std::optional<Failure> Explain(const CompileAction& action,
                                 const std::string& instance,
                                 foldd::v1::ExplainActionResponse* response);

 private:
  // An action and the blobs that its result names, as far as they are here.
  std::vector<Key> WithBlobs(const Key& key, std::vector<std::string>* missing);
  void Forget(const Key& key, foldd::v1::PurgeEntriesResponse* response);
  void Judge(const Key& action, foldd::v1::ExplainActionResponse* response);
  // The messages that an action consists of, from the cache.
  std::optional<CompileAction> ReadAction(const std::string& hash,
                                          const std::string& instance);
  void FindNear(const CompileAction& asked, const std::string& instance,
                foldd::v1::ExplainActionResponse* response);

  const CacheAdminParts parts_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_ADMIN_H_
