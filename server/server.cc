#include "server/server.h"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "proto/grpc/health/v1/health.pb.h"
#include "server/access/access.h"
#include "server/byte_budget.h"
#include "server/cache/disk_store.h"
#include "server/cache/memory_store.h"
#include "server/cache/observed_store.h"
#include "server/cache/single_flight_store.h"
#include "server/cache/tiered_store.h"
#include "server/cache/verifying_store.h"
#include "server/compiler_process.h"
#include "server/http_port.h"
#include "server/job_runner.h"
#include "server/metrics.h"
#include "server/result_cache.h"
#include "server/rpc/service.h"
#include "server/scheduler.h"
#include "server/target_catalog.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr char kServiceName[] = "foldd.v1.Compiler";
constexpr int64_t kLookupThreads = 4;
constexpr int64_t kLookupQueue = 4096;
constexpr milliseconds kHealthInterval{500};
// For connections to close, when no call is left.
constexpr milliseconds kCloseGrace{500};
constexpr milliseconds kCallsInterval{10};

std::string CompilerPath(const Config& config) {
  if (!config.compiler_path.empty()) return config.compiler_path;
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? "foldc" : (self.parent_path() / "foldc").string();
}

// The tiers of the cache, each on the one before.
struct Stores {
  Stores(std::unique_ptr<DiskStore> disk, int64_t memory_bytes,
         const CacheObserver& observe)
      : disk(std::move(disk)),
        verifying(this->disk.get()),
        observed_disk("disk", &verifying, observe),
        memory(memory_bytes),
        observed_memory("memory", &memory, observe),
        tiers(&observed_memory, &observed_disk),
        top(&tiers),
        front(&memory, this->disk.get()),
        // A miss here is looked up again in `top`, and counted there.
        hot("memory", &front, [observe](const auto& tier, const auto& result) {
          if (result == "hit") observe(tier, result);
        }) {}
  std::unique_ptr<DiskStore> disk;
  VerifyingStore verifying;
  ObservedStore observed_disk;
  MemoryStore memory;
  ObservedStore observed_memory;
  TieredStore tiers;
  SingleFlightStore top;
  FrontStore front;
  ObservedStore hot;
};

}  // namespace

struct Server::Parts {
  explicit Parts(const Config& c) : config(c), budget(c.inflight_bytes) {}
  ~Parts() { StopPorts(); }

  absl::Status Build();
  absl::Status StartGrpc();
  absl::Status StartHttp();
  absl::Status Readiness() const;
  void RefreshGauges();
  void WatchHealth();
  void StopPorts();

  const Config config;
  Metrics metrics;
  std::unique_ptr<Access> access;
  ByteBudget budget;
  TargetCatalog targets;
  std::unique_ptr<Stores> stores;
  std::unique_ptr<ResultCache> cache;
  std::unique_ptr<ResultCache> hot;
  std::unique_ptr<CompilerProcess> compiler;
  std::unique_ptr<JobRunner> runner;
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<WorkerPool> lookups;
  std::unique_ptr<CompilerService> service;
  std::unique_ptr<grpc::Server> grpc_server;
  int grpc_port = 0;
  std::unique_ptr<HttpPort> http;

  std::mutex mutex;
  std::condition_variable stop_changed;
  bool stopping = false;
  std::atomic<bool> draining{false};
  std::unique_ptr<LoopThread> health_thread;
};

absl::Status Server::Parts::Build() {
  auto loaded = TargetCatalog::Load(config.targets_folder);
  if (!loaded.ok()) return loaded.status();
  targets = std::move(*loaded);
  std::error_code error;
  std::string data = fs::absolute(config.data, error);
  if (error) return absl::InvalidArgumentError("data: " + error.message());
  auto opened = OpenAccess(config, data, &metrics);
  if (!opened.ok()) return opened.status();
  access = std::move(*opened);
  auto disk = DiskStore::Open(
      {data + "/cache", config.cache_bytes, config.min_free_bytes});
  if (!disk.ok()) return disk.status();
  stores = std::make_unique<Stores>(
      std::move(*disk), config.memory_cache_bytes,
      [this](const std::string& tier, const std::string& result) {
        metrics.Count(Metric::kCacheRequests, {tier, result});
      });
  cache = std::make_unique<ResultCache>(&stores->top);
  hot = std::make_unique<ResultCache>(&stores->hot);
  auto started = CompilerProcess::Start(
      CompilerPath(config), [this] { metrics.Count(Metric::kCompilerStarts); });
  if (!started.ok()) return started.status();
  compiler = std::move(*started);
  foldd::v1::JobLimits limits;
  limits.set_memory_bytes(config.job_memory_bytes);
  limits.set_cpu_seconds(config.job_cpu_seconds);
  limits.set_wall_milliseconds(config.job_wall_seconds * 1000);
  limits.set_file_bytes(config.job_file_bytes);
  limits.set_open_files(config.job_open_files);
  runner = std::make_unique<JobRunner>(data + "/jobs", limits, compiler.get());
  scheduler = std::make_unique<Scheduler>(config.workers, config.queue_length,
                                          runner.get(), cache.get(), &metrics);
  lookups = std::make_unique<WorkerPool>(kLookupThreads, kLookupQueue);
  metrics.Set(Metric::kBuildInfo, {"0.1.0", compiler->compiler_id()}, 1);
  absl::Status status = StartGrpc();
  if (status.ok() && !config.http.empty()) status = StartHttp();
  if (status.ok()) {
    health_thread = std::make_unique<LoopThread>([this] { WatchHealth(); });
  }
  return status;
}

absl::Status Server::Parts::StartGrpc() {
  ServiceParts parts;
  parts.config = &config;
  parts.targets = &targets;
  parts.compiler_id = compiler->compiler_id();
  parts.metrics = &metrics;
  parts.cache = cache.get();
  parts.hot = hot.get();
  parts.scheduler = scheduler.get();
  parts.budget = &budget;
  parts.lookups = lookups.get();
  service = std::make_unique<CompilerService>(std::move(parts));

  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  // Named here, so that it is linked and reflection can describe it.
  (void)grpc::health::v1::HealthCheckRequest::descriptor();
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(static_cast<int>(config.max_message_bytes));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Clients may ask every ten seconds whether we live.
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddListeningPort(config.listen, access->credentials, &grpc_port);
  builder.RegisterService(service.get());
  grpc_server = builder.BuildAndStart();
  if (grpc_server == nullptr || grpc_port == 0) {
    return absl::UnavailableError("cannot listen on " + config.listen);
  }
  grpc_server->GetHealthCheckService()->SetServingStatus(kServiceName, true);
  return absl::OkStatus();
}

absl::Status Server::Parts::StartHttp() {
  HttpHandlers handlers;
  handlers.metrics = [this] {
    RefreshGauges();
    return metrics.Text();
  };
  handlers.ready = [this] { return Readiness(); };
  handlers.blobs = &stores->top;
  handlers.gatekeeper = access->gatekeeper.get();
  handlers.metrics_open = config.http_metrics_open;
  handlers.certificates = access->certificates;
  auto port = HttpPort::Start(config.http, std::move(handlers));
  if (!port.ok()) return port.status();
  http = std::move(*port);
  return absl::OkStatus();
}

absl::Status Server::Parts::Readiness() const {
  if (draining) return absl::UnavailableError("the server is shutting down");
  if (compiler->pid() == 0) {
    return absl::UnavailableError("the compiler's process is down");
  }
  return stores->disk->Health();
}

void Server::Parts::RefreshGauges() {
  auto number = [](int64_t value) { return static_cast<double>(value); };
  metrics.Set(Metric::kQueueDepth, {}, number(scheduler->queued()));
  metrics.Set(Metric::kJobs, {"queued"}, number(scheduler->queued()));
  metrics.Set(Metric::kJobs, {"running"}, number(scheduler->running()));
  metrics.Set(Metric::kCacheBytes, {"disk"},
              number(stores->disk->used_bytes()));
  metrics.Set(Metric::kCacheBytes, {"memory"},
              number(stores->memory.used_bytes()));
  metrics.Set(Metric::kCacheLimitBytes, {"disk"}, number(config.cache_bytes));
  metrics.Set(Metric::kCacheLimitBytes, {"memory"},
              number(config.memory_cache_bytes));
  metrics.Set(Metric::kCacheEvictions, {"disk"},
              number(stores->disk->evictions()));
  metrics.Set(Metric::kDiskFreeBytes, {}, number(stores->disk->free_bytes()));
  metrics.Set(Metric::kInflightBytes, {}, number(budget.held()));
  metrics.Set(Metric::kReady, {}, Readiness().ok() ? 1 : 0);
}

void Server::Parts::WatchHealth() {
  bool serving = true;
  std::unique_lock lock(mutex);
  while (!stop_changed.wait_for(lock, kHealthInterval,
                                [this] { return stopping; })) {
    bool ready = Readiness().ok();
    if (ready == serving || draining) continue;
    serving = ready;
    auto* health = grpc_server->GetHealthCheckService();
    health->SetServingStatus(ready);
    health->SetServingStatus(kServiceName, ready);
  }
}

void Server::Parts::StopPorts() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
    stop_changed.notify_all();
  }
  health_thread.reset();
  if (grpc_server != nullptr) {
    grpc_server->Shutdown(std::chrono::system_clock::now() + kCloseGrace);
    grpc_server->Wait();
  }
  http.reset();
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::~Server() { Drain(); }

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Config& config) {
  auto parts = std::make_unique<Parts>(config);
  absl::Status status = parts->Build();
  if (!status.ok()) return status;
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

int Server::grpc_port() const { return parts_->grpc_port; }

int Server::http_port() const {
  return parts_->http != nullptr ? parts_->http->port() : 0;
}

absl::Status Server::Readiness() const { return parts_->Readiness(); }

bool Server::Drain() {
  if (parts_->draining.exchange(true)) return true;
  auto* health = parts_->grpc_server->GetHealthCheckService();
  health->SetServingStatus(false);
  health->SetServingStatus(kServiceName, false);
  std::chrono::seconds limit(parts_->config.drain_seconds);
  auto end = std::chrono::steady_clock::now() + limit;
  bool clean = parts_->scheduler->Drain(limit);
  // Callers read their results to the end: each holds bytes of the budget.
  while (parts_->budget.held() > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(kCallsInterval);
  }
  parts_->StopPorts();
  return clean;
}

}  // namespace fold
