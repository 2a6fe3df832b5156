#include "server/cache_stack.h"

#include "server/cache/disk_store.h"
#include "server/cache/memory_store.h"
#include "server/cache/observed_store.h"
#include "server/cache/recalling_store.h"
#include "server/cache/scrubber.h"
#include "server/cache/single_flight_store.h"
#include "server/cache/tiered_store.h"
#include "server/cache/verifying_store.h"
#include "server/remote/reapi_tier.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

// Tells the count of a read of a tier.
CacheObserver Counting(Metrics* metrics) {
  return [metrics](const std::string& tier, const std::string& result) {
    metrics->Count(Metric::kCacheRequests, {tier, result});
  };
}

// Larger artifacts are read in pieces, by each caller for itself.
constexpr int64_t kWholeArtifactBytes = 1 << 20;

absl::StatusOr<std::unique_ptr<ReapiTier>> MakeRemote(const Config& config,
                                                      DiskStore* disk,
                                                      Metrics* metrics) {
  if (config.cache.empty()) return std::unique_ptr<ReapiTier>();
  ReapiTierOptions options;
  auto address = ParseRemoteAddress(config.cache);
  if (!address.ok()) {
    return absl::InvalidArgumentError("cache: " +
                                      std::string(address.status().message()));
  }
  options.client.address = *address;
  options.client.ca_file = config.cache_ca_file;
  options.client.token_file = config.cache_token_file;
  options.timeout =
      std::chrono::milliseconds(config.remote_timeout_milliseconds);
  options.queue_bytes = config.remote_queue_bytes;
  return ReapiTier::Make(
      std::move(options), disk,
      [metrics](const std::string& operation, const std::string& result) {
        metrics->Count(Metric::kRemoteCacheRequests, {operation, result});
      });
}

}  // namespace

struct CacheStack::Parts {
  Parts(const Config& config, std::unique_ptr<DiskStore> store,
        std::unique_ptr<ReapiTier> tier, Metrics* counts)
      : metrics(counts),
        memory_limit(config.memory_cache_bytes),
        disk(std::move(store)),
        recalls(disk->root() + "/recalls"),
        remote(std::move(tier)),
        verifying(disk.get()),
        observed_disk("disk", &verifying, Counting(counts)),
        memory(config.memory_cache_bytes),
        observed_memory("memory", &memory, Counting(counts)),
        tiers(&observed_memory, &observed_disk),
        shared(&tiers),
        top(&shared, &recalls),
        front(&memory, disk.get()),
        // A miss here is looked up again in `top`, and counted there.
        counted_front("memory", &front,
                      [count = Counting(counts)](const std::string& tier_name,
                                                 const std::string& result) {
                        if (result == "hit") count(tier_name, result);
                      }),
        hot_store(&counted_front, &recalls),
        blobs(disk.get(), &recalls, remote.get(), config.blob_lease_seconds),
        results(&top, {&blobs, remote.get(), &recalls, kWholeArtifactBytes}),
        hot(&hot_store, {nullptr, nullptr, &recalls, kWholeArtifactBytes}),
        admin({disk.get(), &memory, config.memory_cache_bytes, &recalls, &top,
               &results, [this] { return RemoteState(); }}),
        scrubber(disk.get(), {config.scrub_bytes_per_second},
                 [this](bool right) { CountScrubbed(right); }) {}

  std::string RemoteState() const {
    if (remote == nullptr) return "none";
    return remote->in_use() ? "used" : "skipped";
  }

  void CountScrubbed(bool right) {
    metrics->Count(Metric::kCacheScrubbed, {right ? "right" : "wrong"});
    if (!right) spdlog::error("the cache had a wrong entry; it is quarantined");
  }

  Metrics* const metrics;
  const int64_t memory_limit;
  std::unique_ptr<DiskStore> disk;
  RecallList recalls;
  std::unique_ptr<ReapiTier> remote;
  VerifyingStore verifying;
  ObservedStore observed_disk;
  MemoryStore memory;
  ObservedStore observed_memory;
  TieredStore tiers;
  SingleFlightStore shared;
  RecallingStore top;
  FrontStore front;
  ObservedStore counted_front;
  RecallingStore hot_store;
  BlobCache blobs;
  ResultCache results;
  ResultCache hot;
  CacheAdmin admin;
  Scrubber scrubber;  // last: its thread uses the rest
};

CacheStack::CacheStack(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)) {}
CacheStack::~CacheStack() = default;

absl::StatusOr<std::unique_ptr<CacheStack>> CacheStack::Open(
    const Config& config, const std::string& root, Metrics* metrics) {
  DiskStoreOptions options;
  options.root = root;
  options.limit_bytes = config.cache_bytes;
  options.min_free_bytes = config.min_free_bytes;
  options.on_wrong = [count = Counting(metrics)](const Key&) {
    count("disk", "corrupt");
  };
  auto disk = DiskStore::Open(std::move(options));
  if (!disk.ok()) return disk.status();
  auto remote = MakeRemote(config, disk->get(), metrics);
  if (!remote.ok()) return remote.status();
  return std::unique_ptr<CacheStack>(new CacheStack(std::make_unique<Parts>(
      config, std::move(*disk), std::move(*remote), metrics)));
}

ResultCache* CacheStack::results() { return &parts_->results; }
ResultCache* CacheStack::hot() { return &parts_->hot; }
BlobCache* CacheStack::blobs() { return &parts_->blobs; }
Store* CacheStack::store() { return &parts_->top; }
CacheAdmin* CacheStack::admin() { return &parts_->admin; }

absl::Status CacheStack::Health() const { return parts_->disk->Health(); }

void CacheStack::RefreshGauges() {
  Metrics& metrics = *parts_->metrics;
  DiskStore& disk = *parts_->disk;
  auto set = [&](Metric metric, const Metrics::Values& labels, int64_t value) {
    metrics.Set(metric, labels, static_cast<double>(value));
  };
  set(Metric::kCacheBytes, {"disk"}, disk.used_bytes());
  set(Metric::kCacheBytes, {"memory"}, parts_->memory.used_bytes());
  set(Metric::kCacheLimitBytes, {"disk"}, disk.limit_bytes());
  set(Metric::kCacheLimitBytes, {"memory"}, parts_->memory_limit);
  set(Metric::kCacheEvictions, {"disk"}, disk.evictions());
  set(Metric::kDiskFreeBytes, {}, disk.free_bytes());
  set(Metric::kCacheLeases, {}, disk.protection().held());
  set(Metric::kCachePinnedBytes, {}, disk.pinned_bytes());
  set(Metric::kCacheQuarantineBytes, {}, disk.quarantine().bytes());
  set(Metric::kCacheTemporaryBytes, {}, disk.temporary_bytes());
  ReapiTier* remote = parts_->remote.get();
  set(Metric::kRemoteCacheState, {},
      remote != nullptr && remote->in_use() ? 1 : 0);
  set(Metric::kRemoteCacheQueueBytes, {},
      remote != nullptr ? remote->queued_bytes() : 0);
}

bool CacheStack::Drain(std::chrono::milliseconds limit) {
  return parts_->remote == nullptr || parts_->remote->Drain(limit);
}

}  // namespace fold
