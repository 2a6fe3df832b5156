// What the RPCs stand on; server/server.cc owns all of it.
#ifndef FOLD_SERVER_RPC_SERVICE_PARTS_H_
#define FOLD_SERVER_RPC_SERVICE_PARTS_H_

#include <string>

#include "server/access/audit_log.h"
#include "server/access/gatekeeper.h"
#include "server/access/quota.h"
#include "server/byte_budget.h"
#include "server/cache/blob_cache.h"
#include "server/cache_admin.h"
#include "server/config.h"
#include "server/metrics.h"
#include "server/operation_store.h"
#include "server/result_cache.h"
#include "server/rpc/call_registry.h"
#include "server/scheduler.h"
#include "server/target_catalog.h"
#include "server/telemetry/trace.h"
#include "server/upload_sessions.h"
#include "server/worker_pool.h"

namespace fold {

class OperationTable;

struct ServiceParts {
  const Config* config = nullptr;
  const TargetCatalog* targets = nullptr;
  std::string compiler_id;
  Metrics* metrics = nullptr;
  Gatekeeper* gatekeeper = nullptr;
  Quota* quota = nullptr;
  AuditLog* audit = nullptr;
  ResultCache* cache = nullptr;
  ResultCache* hot = nullptr;  // what `cache` has in memory: never waits
  BlobCache* blobs = nullptr;
  CacheAdmin* cache_admin = nullptr;
  Scheduler* scheduler = nullptr;
  ByteBudget* budget = nullptr;
  CallRegistry* calls = nullptr;
  UploadSessions* uploads = nullptr;
  OperationStore* operation_store = nullptr;
  OperationTable* operations = nullptr;
  Tracer* tracer = nullptr;
  // For what an RPC must not do in gRPC's own threads: hashing and reading.
  WorkerPool* lookups = nullptr;
};

}  // namespace fold

#endif  // FOLD_SERVER_RPC_SERVICE_PARTS_H_
