#include "server/server.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <system_error>
#include <thread>

#include "compiler/sandbox/walls.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "server/access/access.h"
#include "server/byte_budget.h"
#include "server/cache_stack.h"
#include "server/compiler_process.h"
#include "server/crash_list.h"
#include "server/http_port.h"
#include "server/job_runner.h"
#include "server/metrics.h"
#include "server/process_stats.h"
#include "server/reproducer_folder.h"
#include "server/rpc/call_registry.h"
#include "server/rpc/dispatcher.h"
#include "server/rpc/operation_table.h"
#include "server/scheduler.h"
#include "server/target_catalog.h"
#include "server/telemetry/telemetry.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// A bundle up to this size is a blob as well.
constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr char kServiceName[] = "foldd.v1.Compiler";
constexpr int64_t kLookupThreads = 4;
constexpr int64_t kLookupQueue = 4096;
constexpr milliseconds kHealthInterval{500};
// After so many times dispatch_stall_seconds of silence.
constexpr int kReplaceStalls = 2;
// For results to reach the shared cache, when no call is left.
constexpr milliseconds kShareGrace{5000};
constexpr char kVersion[] = "0.1.0";
// For the last spans to be sent, when all else has ended.
constexpr milliseconds kTraceGrace{3'000};
constexpr int kLookaheadBytes = 64 << 10;
// For connections to close, when no call is left.
constexpr milliseconds kCloseGrace{500};

std::string CompilerPath(const Config& config) {
  if (!config.compiler_path.empty()) return config.compiler_path;
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? "foldc" : (self.parent_path() / "foldc").string();
}

}  // namespace

struct Server::Parts {
  explicit Parts(const Config& c)
      : config(c),
        budget(c.inflight_bytes),
        crashes(
            {c.crash_limit, std::chrono::seconds(c.crash_refusal_seconds)}) {}
  ~Parts() { StopPorts(); }

  absl::Status Build();
  absl::Status StartOperations(const std::string& path);
  absl::Status StartGrpc();
  absl::Status StartHttp();
  absl::Status Readiness() const;
  absl::Status Dispatch() const;
  absl::Status StartTelemetry();
  void RefreshGauges();
  // Makes a bundle a blob of the instance whose model is in it.
  void PublishReproducer(const std::string& digest, const std::string& path,
                         const std::string& instance);
  void RefreshProcess();
  void WatchHealth();
  void StopPorts();

  const Config config;
  Metrics metrics;
  std::unique_ptr<Telemetry> telemetry;
  std::unique_ptr<Access> access;
  ByteBudget budget;
  TargetCatalog targets;
  std::unique_ptr<CacheStack> cache;
  std::unique_ptr<CompilerProcess> compiler;
  std::unique_ptr<ReproducerFolder> reproducers;
  CrashList crashes;
  std::unique_ptr<JobRunner> runner;
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<WorkerPool> lookups;
  std::unique_ptr<UploadSessions> uploads;
  std::unique_ptr<OperationStore> operation_store;
  std::unique_ptr<CallRegistry> calls;
  ServiceParts service_parts;
  std::unique_ptr<OperationTable> operations;
  std::unique_ptr<Dispatcher> dispatcher;
  std::unique_ptr<grpc::Server> grpc_server;
  int grpc_port = 0;
  std::unique_ptr<HttpPort> http;

  std::mutex mutex;
  std::condition_variable stop_changed;
  bool stopping = false;
  std::atomic<bool> draining{false};
  std::unique_ptr<LoopThread> health_thread;
};

absl::Status Server::Parts::StartTelemetry() {
  auto started = Telemetry::Start(
      {config.otlp_endpoint, config.otlp_file, config.trace_ratio, kVersion},
      [this](const std::string& result, int64_t spans) {
        metrics.Count(Metric::kTraceSpans, {result},
                      static_cast<double>(spans));
      });
  if (!started.ok()) return started.status();
  telemetry = std::move(*started);
  return absl::OkStatus();
}

absl::Status Server::Parts::Build() {
  absl::Status traced = StartTelemetry();
  if (!traced.ok()) return traced;
  auto loaded = TargetCatalog::Load(config.targets_folder);
  if (!loaded.ok()) return loaded.status();
  targets = std::move(*loaded);
  std::error_code error;
  std::string data = fs::absolute(config.data, error);
  if (error) return absl::InvalidArgumentError("data: " + error.message());
  auto entered = OpenAccess(config, data, &metrics);
  if (!entered.ok()) return entered.status();
  access = std::move(*entered);
  auto opened = CacheStack::Open(config, data + "/cache", &metrics);
  if (!opened.ok()) return opened.status();
  cache = std::move(*opened);
  auto started = CompilerProcess::Start(
      CompilerPath(config), [this] { metrics.Count(Metric::kCompilerStarts); },
      *ParseSandboxLevel(config.sandbox_minimum));
  if (!started.ok()) return started.status();
  compiler = std::move(*started);
  foldd::v1::JobLimits limits;
  limits.set_memory_bytes(config.job_memory_bytes);
  limits.set_cpu_seconds(config.job_cpu_seconds);
  limits.set_wall_milliseconds(config.job_wall_seconds * 1000);
  limits.set_file_bytes(config.job_file_bytes);
  limits.set_open_files(config.job_open_files);
  auto bundles = ReproducerFolder::Open(
      data + "/reproducers", {config.reproducer_count, config.reproducer_bytes},
      [this](const auto& digest, const auto& path, const auto& instance) {
        PublishReproducer(digest, path, instance);
      });
  if (!bundles.ok()) return bundles.status();
  reproducers = std::move(*bundles);
  runner = std::make_unique<JobRunner>(data + "/jobs", limits, compiler.get(),
                                       cache->blobs(), reproducers.get());
  scheduler = std::make_unique<Scheduler>(
      SchedulerLimits{config.workers, config.queue_length,
                      std::chrono::seconds(config.queue_seconds)},
      runner.get(), cache->results(), &metrics, &crashes, telemetry->tracer());
  lookups = std::make_unique<WorkerPool>(kLookupThreads, kLookupQueue);
  uploads = std::make_unique<UploadSessions>(
      config.max_uploads, std::chrono::seconds(config.upload_idle_seconds));
  metrics.Set(Metric::kBuildInfo, {kVersion, compiler->compiler_id()}, 1);
  absl::Status status = StartOperations(data + "/operations.db");
  // What the last server left is taken up, with its inputs held, before anyone
  // can make the cache forget them.
  if (status.ok()) status = StartGrpc();
  if (status.ok() && !config.http.empty()) status = StartHttp();
  if (status.ok()) {
    health_thread = std::make_unique<LoopThread>([this] { WatchHealth(); });
  }
  return status;
}

absl::Status Server::Parts::StartOperations(const std::string& path) {
  auto store = OperationStore::Open(path);
  if (!store.ok()) return store.status();
  operation_store = std::move(*store);
  ServiceParts& parts = service_parts;
  parts.config = &config;
  parts.targets = &targets;
  parts.compiler_id = compiler->compiler_id();
  parts.metrics = &metrics;
  parts.gatekeeper = access->gatekeeper.get();
  parts.quota = access->quota.get();
  parts.audit = access->audit.get();
  parts.cache = cache->results();
  parts.hot = cache->hot();
  parts.blobs = cache->blobs();
  parts.cache_admin = cache->admin();
  parts.scheduler = scheduler.get();
  parts.budget = &budget;
  parts.tracer = telemetry->tracer();
  parts.lookups = lookups.get();
  calls = std::make_unique<CallRegistry>(CallRegistry::Limits{
      config.max_calls, std::chrono::seconds(config.stall_seconds),
      std::chrono::seconds(config.inflight_wait_seconds)});
  parts.calls = calls.get();
  parts.uploads = uploads.get();
  parts.operation_store = operation_store.get();
  operations = std::make_unique<OperationTable>(
      &parts, std::chrono::seconds(config.operation_retention_seconds),
      config.max_operations);
  parts.operations = operations.get();
  return operations->Resume();
}

absl::Status Server::Parts::StartGrpc() {
  dispatcher = std::make_unique<Dispatcher>(service_parts);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(static_cast<int>(config.max_message_bytes));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Clients may ask every ten seconds whether we live.
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // What a peer may send ahead of what we read is bounded for each call, and
  // does not grow with the speed of its connection.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES,
                             kLookaheadBytes);
  builder.AddListeningPort(config.listen, access->credentials, &grpc_port);
  builder.RegisterCallbackGenericService(dispatcher.get());
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
  handlers.about = [this] {
    SandboxReport sandbox = compiler->sandbox();
    return "sandbox: " + std::string(SandboxLevelName(sandbox.level())) + ": " +
           sandbox.Summary();
  };
  handlers.blobs = cache->store();
  handlers.gatekeeper = access->gatekeeper.get();
  handlers.metrics_open = config.http_metrics_open;
  handlers.certificates = access->certificates;
  auto port = HttpPort::Start(config.http, std::move(handlers));
  if (!port.ok()) return port.status();
  http = std::move(*port);
  return absl::OkStatus();
}

void Server::Parts::PublishReproducer(const std::string& digest,
                                      const std::string& path,
                                      const std::string& instance) {
  std::error_code error;
  auto size = static_cast<int64_t>(fs::file_size(path, error));
  std::ifstream file(path, std::ios::binary);
  absl::Status status =
      error ? absl::UnavailableError(error.message()) : absl::OkStatus();
  auto writer = cache->blobs()->Create({Space::kBlob, digest, instance}, size);
  if (status.ok()) status = writer.status();
  std::string piece(kPieceBytes, '\0');
  while (status.ok() && file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    auto got = static_cast<size_t>(file.gcount());
    if (got > 0) status = (*writer)->Append({piece.data(), got});
  }
  if (status.ok()) status = (*writer)->Finish();
  if (!status.ok()) {
    spdlog::warn("reproducer {} is in the data folder alone: {}", digest,
                 std::string(status.message()));
  }
}

absl::Status Server::Parts::Readiness() const {
  if (draining) return absl::UnavailableError("the server is shutting down");
  if (compiler->pid() == 0) {
    std::string why = compiler->refusal();
    return absl::UnavailableError("the compiler's process is down" +
                                  (why.empty() ? why : ": " + why));
  }
  absl::Status dispatch = Dispatch();
  return dispatch.ok() ? cache->Health() : dispatch;
}

// Whether compiles get on their way: from what they do, not from that the
// threads are there.
absl::Status Server::Parts::Dispatch() const {
  std::chrono::seconds limit(config.dispatch_stall_seconds);
  if (scheduler->stalled() > limit) {
    return absl::UnavailableError("compiles wait though a worker is free");
  }
  if (compiler->owes() > limit) {
    return absl::UnavailableError("the compiler's process does not answer");
  }
  return absl::OkStatus();
}

void Server::Parts::RefreshGauges() {
  auto number = [](int64_t value) { return static_cast<double>(value); };
  metrics.Set(Metric::kQueueDepth, {}, number(scheduler->queued()));
  metrics.Set(Metric::kQueueOldestSeconds, {},
              static_cast<double>(scheduler->oldest_wait().count()) * 1e-3);
  metrics.Set(Metric::kQueueLimit, {}, number(config.queue_length));
  metrics.Set(Metric::kWorkers, {}, number(config.workers));
  metrics.Set(Metric::kJobs, {"queued"}, number(scheduler->queued()));
  metrics.Set(Metric::kJobs, {"running"}, number(scheduler->running()));
  cache->RefreshGauges();
  metrics.Set(Metric::kInflightBytes, {}, number(budget.held()));
  metrics.Set(Metric::kCalls, {}, number(calls->live()));
  metrics.Set(Metric::kUploads, {}, number(uploads->live()));
  metrics.Set(Metric::kOperations, {}, number(operations->live()));
  SandboxReport sandbox = compiler->sandbox();
  for (size_t i = 0; i < kWallCount; ++i) {
    metrics.Set(Metric::kSandboxWall, {std::string(WallTable()[i].name)},
                sandbox.walls[i].stands ? 1 : 0);
  }
  metrics.Set(Metric::kReproducerBytes, {}, number(reproducers->bytes()));
  metrics.Set(Metric::kInflightLimitBytes, {}, number(budget.limit()));
  metrics.Set(Metric::kReady, {}, Readiness().ok() ? 1 : 0);
  RefreshProcess();
}

void Server::Parts::RefreshProcess() {
  auto number = [](int64_t value) { return static_cast<double>(value); };
  ProcessStats stats = ReadProcessStats();
  metrics.Raise(Metric::kProcessCpu, {}, stats.cpu_seconds);
  metrics.Set(Metric::kProcessResident, {}, number(stats.resident_bytes));
  metrics.Set(Metric::kProcessVirtual, {}, number(stats.virtual_bytes));
  metrics.Set(Metric::kProcessThreads, {}, number(stats.threads));
  metrics.Set(Metric::kProcessOpenFds, {}, number(stats.open_fds));
  metrics.Set(Metric::kProcessMaxFds, {}, number(stats.max_fds));
  metrics.Set(Metric::kProcessStart, {}, stats.start_seconds);
}

void Server::Parts::WatchHealth() {
  const std::chrono::seconds stall(config.dispatch_stall_seconds);
  bool serving = true;
  int silent = 0;
  std::unique_lock lock(mutex);
  while (!stop_changed.wait_for(lock, kHealthInterval,
                                [this] { return stopping; })) {
    // Seen twice: after a pause of the whole machine its answer may be there.
    silent = compiler->owes() > kReplaceStalls * stall ? silent + 1 : 0;
    if (silent == 2) {
      spdlog::error("the compiler's process does not answer: replacing it");
      compiler->Replace();
    }
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
  auto end = Clock::now() + limit;
  parts_->operations->Drain();
  bool clean = parts_->scheduler->Drain(limit);
  // Callers read their results to the end.
  parts_->calls->WaitNone(std::chrono::duration_cast<milliseconds>(
      std::max(end - Clock::now(), Clock::duration(0))));
  parts_->StopPorts();
  parts_->cache->Drain(kShareGrace);
  parts_->telemetry->Stop(kTraceGrace);
  return clean;
}

}  // namespace fold
