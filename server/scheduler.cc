#include "server/scheduler.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "server/telemetry/log.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

v1::JobEvent StateEvent(v1::Progress::State state) {
  v1::JobEvent event;
  event.mutable_progress()->set_state(state);
  return event;
}

}  // namespace

class Scheduler::Flight {
 public:
  Flight(std::string hash, CompileRequestSpec given, Tracer* tracer)
      : hash(std::move(hash)),
        spec(std::move(given)),
        own_span(spec.trace.valid() ? Span()
                                    : StartSpan(tracer, "compile", {})),
        trace(spec.trace.valid() ? spec.trace : own_span.context()),
        queue_span(StartSpan(tracer, "queue", trace)) {
    queue_span.Set("foldd.action_digest", this->hash);
  }

  const std::string hash;
  const CompileRequestSpec spec;
  const Clock::time_point queued_at = Clock::now();
  Span own_span;             // where no caller brought one
  const TraceContext trace;  // what its spans are below
  Span queue_span;           // ended by the worker that takes it
  std::atomic<bool> taken{false};
  JobHandle handle;

  std::mutex mutex;
  std::vector<CompileWaiter*> waiters;
  bool over = false;  // finished or given up: nobody can join any more
  // For those who join late.
  std::vector<v1::JobEvent> diagnostics;
  v1::JobEvent last_progress = StateEvent(v1::Progress::QUEUED);

  std::string LastPass() {
    std::lock_guard lock(mutex);
    return last_progress.progress().pass_name();
  }

  void Tell(const v1::JobEvent& event) {
    std::lock_guard lock(mutex);
    if (event.has_progress()) {
      last_progress = event;
    } else {
      diagnostics.push_back(event);
    }
    for (CompileWaiter* waiter : waiters) waiter->OnJobEvent(event);
  }

  // Called with `mutex` held.
  void Add(CompileWaiter* waiter) {
    waiters.push_back(waiter);
    waiter->OnJobEvent(last_progress);
    for (const auto& event : diagnostics) waiter->OnJobEvent(event);
  }
};

Scheduler::Scheduler(int64_t workers, int64_t queue_length, JobRunner* runner,
                     ResultCache* cache, Metrics* metrics, Tracer* tracer)
    : runner_(runner),
      cache_(cache),
      metrics_(metrics),
      tracer_(tracer),
      recorder_(metrics, tracer),
      pool_(workers, queue_length) {}

std::optional<Failure> Scheduler::Join(CompileRequestSpec spec,
                                       CompileWaiter* waiter, Ticket* ticket) {
  std::string hash = spec.job.action.digest.hash();
  std::lock_guard lock(mutex_);
  if (draining_) return Failure{"DRAINING", "the server is shutting down"};
  auto found = flights_.find(hash);
  if (found != flights_.end()) {
    *ticket = found->second;
    std::lock_guard flight_lock((*ticket)->mutex);
    if (!(*ticket)->over) {
      (*ticket)->Add(waiter);
      metrics_->Count(Metric::kJobJoins);
      return std::nullopt;
    }
  }
  *ticket = std::make_shared<Flight>(hash, std::move(spec), tracer_);
  {
    std::lock_guard flight_lock((*ticket)->mutex);
    (*ticket)->Add(waiter);
  }
  if (!pool_.Submit([this, flight = *ticket] { Run(flight); })) {
    ticket->reset();
    return Failure{"QUEUE_FULL",
                   "all workers are busy and the queue is full",
                   {{"queued", std::to_string(pool_.queued())}}};
  }
  flights_[hash] = *ticket;
  return std::nullopt;
}

void Scheduler::Leave(const Ticket& ticket, CompileWaiter* waiter) {
  std::lock_guard lock(mutex_);
  {
    std::lock_guard flight_lock(ticket->mutex);
    auto& waiters = ticket->waiters;
    waiters.erase(std::remove(waiters.begin(), waiters.end(), waiter),
                  waiters.end());
    if (!waiters.empty() || ticket->over) return;
    ticket->over = true;
  }
  auto found = flights_.find(ticket->hash);
  if (found != flights_.end() && found->second == ticket) flights_.erase(found);
  ticket->handle.Kill();
}

bool Scheduler::Drain(std::chrono::milliseconds limit) {
  {
    std::lock_guard lock(mutex_);
    draining_ = true;
  }
  if (pool_.WaitIdle(limit)) return true;
  {
    std::lock_guard lock(mutex_);
    for (auto& [hash, flight] : flights_) flight->handle.Kill();
  }
  pool_.WaitIdle(std::chrono::seconds(10));
  return false;
}

const TraceContext& Scheduler::TraceOf(const Ticket& ticket) {
  return ticket->trace;
}

double Scheduler::OldestQueuedSeconds() {
  std::lock_guard lock(mutex_);
  double oldest = 0;
  for (const auto& [hash, flight] : flights_) {
    if (flight->taken) continue;
    oldest = std::max(oldest, SecondsSince(flight->queued_at));
  }
  return oldest;
}

void Scheduler::Run(const Ticket& flight) {
  flight->taken = true;
  flight->queue_span.End();
  recorder_.Progress();
  metrics_->Observe(Metric::kQueueSeconds, {}, SecondsSince(flight->queued_at));
  {
    std::lock_guard lock(flight->mutex);
    if (flight->over) return;  // everybody left while it waited
  }
  LogScope action({{"action_digest", flight->hash}});
  LogScope trace(TraceFields(flight->trace));
  flight->Tell(StateEvent(v1::Progress::RUNNING));
  auto outcome = Compile(*flight);
  flight->own_span.End();
  recorder_.Progress();
  Finish(flight, std::move(outcome));
}

std::shared_ptr<CompileOutcome> Scheduler::Compile(Flight& flight) {
  auto outcome = std::make_shared<CompileOutcome>();
  outcome->run.set_host(HostName());
  // A compile of the same action may have ended after the caller looked.
  if (!flight.spec.fresh) {
    if (auto found = cache_->Find(flight.hash)) {
      outcome->result = std::move(*found);
      outcome->run.set_cached(true);
      return outcome;
    }
  }
  auto start = Clock::now();
  Span span = recorder_.Begin(flight.trace);
  std::string traceparent = FormatTraceparent(span.context());
  JobOutcome job = runner_->Run(
      flight.spec.job, &flight.handle,
      [&](const v1::JobEvent& event) {
        recorder_.Progress();
        flight.Tell(event);
      },
      traceparent);
  recorder_.End(std::move(span), job, SecondsSince(start), flight.LastPass());
  if (job.failure) {
    outcome->failure = std::move(job.failure);
    std::lock_guard lock(mutex_);
    if (draining_ && job.exit.cause() == v1::KILLED) {
      outcome->failure = Failure{"DRAINING", "the server was shut down"};
    }
    return outcome;
  }
  outcome->run = job.report.run();
  outcome->run.set_cached(false);
  outcome->run.set_host(HostName());
  outcome->run.set_peak_memory_bytes(job.exit.peak_memory_bytes());
  auto report = std::make_shared<v1::CompileReport>(std::move(job.report));
  report->clear_run();
  report->set_action_digest(flight.hash);
  outcome->result = {std::move(job.artifact), std::move(report),
                     std::move(job.dump)};
  Keep(flight, outcome.get());
  return outcome;
}

void Scheduler::Keep(const Flight& flight, CompileOutcome* outcome) {
  const CachedResult& result = outcome->result;
  absl::Status status = cache_->Save(flight.hash, result);
  if (status.ok()) {
    v1::Manifest manifest = flight.spec.manifest;
    const v1::ArtifactSummary& summary = result.report->artifact();
    manifest.mutable_artifact()->set_hash(summary.digest());
    manifest.mutable_artifact()->set_size_bytes(summary.size_bytes());
    manifest.set_action_digest(flight.hash);
    manifest.set_arena_bytes(summary.arena_bytes());
    manifest.set_exactness(summary.exactness());
    manifest.set_integer_only(summary.integer_only());
    status = cache_->AddManifest(manifest);
  }
  if (status.ok()) return;
  // The caller has the result all the same.
  metrics_->Count(Metric::kCacheWriteErrors);
  LogScope scope({{"error", std::string(status.message())}});
  spdlog::warn("a result is not kept");
}

void Scheduler::Finish(const Ticket& flight,
                       std::shared_ptr<const CompileOutcome> outcome) {
  std::lock_guard lock(mutex_);
  auto found = flights_.find(flight->hash);
  if (found != flights_.end() && found->second == flight) flights_.erase(found);
  std::lock_guard flight_lock(flight->mutex);
  flight->over = true;
  for (CompileWaiter* waiter : flight->waiters) waiter->OnOutcome(outcome);
  flight->waiters.clear();
}

}  // namespace fold
