#include "server/scheduler.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "server/telemetry/log.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kQueueInterval{50};
constexpr int64_t kLargeArtifactBytes = 1 << 20;

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
  Flight(std::string name, CompileRequestSpec given, Tracer* tracer)
      : name(std::move(name)),
        spec(std::move(given)),
        own_span(spec.trace.valid() ? Span()
                                    : StartSpan(tracer, "compile", {})),
        trace(spec.trace.valid() ? spec.trace : own_span.context()),
        queue_span(StartSpan(tracer, "queue", trace)) {
    queue_span.Set("foldd.action_digest", spec.job.action.digest.hash());
  }

  const std::string name;  // instance, action hash, and whether answered
  const CompileRequestSpec spec;
  const Clock::time_point queued_at = Clock::now();
  Span own_span;             // where no caller brought one
  const TraceContext trace;  // what its spans are below
  Span queue_span;           // ended by the worker that takes it
  JobHandle handle;

  // The scheduler's, under its mutex.
  bool waiting = true;  // for a worker
  Clock::time_point queue_until = queued_at;

  // Held while waiters are told, so that none is told after it has left; never
  // together with the scheduler's, which no waiter can hold up so.
  std::mutex mutex;
  struct Waiting {
    const CompileWaiter* key;
    std::weak_ptr<CompileWaiter> waiter;
  };
  std::vector<Waiting> waiters;
  bool over = false;  // finished or given up: nobody can join any more
  // For those who join late.
  std::vector<v1::JobEvent> diagnostics;
  v1::JobEvent last_progress = StateEvent(v1::Progress::QUEUED);

  std::string LastPass() {
    std::lock_guard lock(mutex);
    return last_progress.progress().pass_name();
  }

  // Those who wait, held. Called with `mutex` held, and dropped after it: the
  // last hold of a waiter may be this one, and its end leaves.
  using Held = std::vector<std::shared_ptr<CompileWaiter>>;
  Held HoldWaiters() const {
    Held held;
    for (const Waiting& waiting : waiters) {
      if (auto waiter = waiting.waiter.lock()) held.push_back(waiter);
    }
    return held;
  }

  void Tell(const v1::JobEvent& event) {
    Held held;
    std::lock_guard lock(mutex);
    if (event.has_progress()) {
      last_progress = event;
    } else {
      diagnostics.push_back(event);
    }
    held = HoldWaiters();
    for (const auto& waiter : held) waiter->OnJobEvent(event);
  }

  // False: it is over, and the waiter hears nothing.
  bool Add(const std::shared_ptr<CompileWaiter>& waiter) {
    std::lock_guard lock(mutex);
    if (!over) AddLocked(waiter);
    return !over;
  }

  // Called with `mutex` held.
  void AddLocked(const std::shared_ptr<CompileWaiter>& waiter) {
    waiters.push_back({waiter.get(), waiter});
    waiter->OnJobEvent(last_progress);
    for (const auto& event : diagnostics) waiter->OnJobEvent(event);
  }

  void End(const std::shared_ptr<const CompileOutcome>& outcome) {
    Held held;
    std::lock_guard lock(mutex);
    over = true;
    held = HoldWaiters();
    for (const auto& waiter : held) waiter->OnOutcome(outcome);
    waiters.clear();
  }
};

// The pool takes all that the scheduler gives it: the bound on what waits is
// the scheduler's, which also counts those that gave up.
Scheduler::Scheduler(SchedulerLimits limits, JobRunner* runner,
                     ResultCache* cache, Metrics* metrics, CrashList* crashes,
                     Tracer* tracer)
    : limits_(limits),
      runner_(runner),
      cache_(cache),
      metrics_(metrics),
      crashes_(crashes),
      tracer_(tracer),
      recorder_(metrics, tracer),
      pool_(limits.workers, std::numeric_limits<int32_t>::max()) {
  watch_ = std::make_unique<LoopThread>([this] { WatchQueue(); });
}

Scheduler::~Scheduler() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  watch_.reset();
}

std::optional<Failure> Scheduler::Join(
    CompileRequestSpec spec, const std::shared_ptr<CompileWaiter>& waiter,
    Ticket* ticket) {
  std::string name = spec.instance + "/" + spec.job.action.digest.hash();
  // Whoever wants a compile does not join one that will never run.
  if (spec.answer) name += "/answered";
  auto patience = spec.queue_timeout.count() > 0
                      ? std::min(spec.queue_timeout, limits_.queue_timeout)
                      : limits_.queue_timeout;
  auto queue_until = Clock::now() + patience;
  for (Ticket over;;) {
    std::unique_lock lock(mutex_);
    if (draining_) return Failure{"DRAINING", "the server is shutting down"};
    if (over != nullptr) Forget(over);
    auto found = flights_.find(name);
    if (found == flights_.end()) {
      return Begin(std::move(lock), name, std::move(spec), queue_until, waiter,
                   ticket);
    }
    *ticket = found->second;
    (*ticket)->queue_until = std::max((*ticket)->queue_until, queue_until);
    lock.unlock();
    if ((*ticket)->Add(waiter)) {
      metrics_->Count(Metric::kJobJoins);
      return std::nullopt;
    }
    over = std::move(*ticket);
  }
}

std::optional<Failure> Scheduler::Begin(
    std::unique_lock<std::mutex> lock, const std::string& name,
    CompileRequestSpec spec, Clock::time_point queue_until,
    const std::shared_ptr<CompileWaiter>& waiter, Ticket* ticket) {
  // A free worker takes one that waits: it does not count against the queue.
  if (waiting_ >= limits_.queue_length + limits_.workers - running_) {
    ticket->reset();
    return Failure{"QUEUE_FULL",
                   "all workers are busy and the queue is full",
                   {{"queued", std::to_string(waiting_)}}};
  }
  auto flight = std::make_shared<Flight>(name, std::move(spec), tracer_);
  flight->queue_until = queue_until;
  // The worker that takes it has nothing to tell before its waiter is there.
  std::unique_lock flight_lock(flight->mutex);
  if (!pool_.Submit([this, flight] { Run(flight); }, flight->spec.client)) {
    ticket->reset();
    return Failure{"DRAINING", "the server is shutting down"};
  }
  ++waiting_;
  flights_[name] = flight;
  lock.unlock();
  *ticket = flight;
  flight->AddLocked(waiter);
  return std::nullopt;
}

void Scheduler::Leave(const Ticket& ticket, const CompileWaiter* waiter) {
  {
    std::lock_guard flight_lock(ticket->mutex);
    auto& waiters = ticket->waiters;
    std::erase_if(waiters, [waiter](const Flight::Waiting& waiting) {
      return waiting.key == waiter;
    });
    if (!waiters.empty() || ticket->over) return;
    ticket->over = true;
  }
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(ticket->waiting, false)) --waiting_;
    Forget(ticket);
  }
  ticket->handle.Kill();
}

void Scheduler::Forget(const Ticket& ticket) {
  auto found = flights_.find(ticket->name);
  if (found != flights_.end() && found->second == ticket) flights_.erase(found);
}

bool Scheduler::Drain(std::chrono::milliseconds limit) {
  {
    std::lock_guard lock(mutex_);
    draining_ = true;
  }
  if (pool_.WaitIdle(limit)) return true;
  std::vector<Ticket> left;
  {
    std::lock_guard lock(mutex_);
    for (auto& [name, flight] : flights_) left.push_back(flight);
  }
  for (const Ticket& flight : left) flight->handle.Kill();
  pool_.WaitIdle(std::chrono::seconds(10));
  return false;
}

const TraceContext& Scheduler::TraceOf(const Ticket& ticket) {
  return ticket->trace;
}

bool Scheduler::TakeUp(const Ticket& flight) {
  std::lock_guard lock(mutex_);
  // Otherwise everybody left while it waited, or it waited for too long.
  if (!std::exchange(flight->waiting, false)) return false;
  --waiting_;
  ++running_;
  moved_ = Clock::now();
  return true;
}

void Scheduler::Run(const Ticket& flight) {
  if (!TakeUp(flight)) return;
  metrics_->Observe(Metric::kQueueSeconds, {}, SecondsSince(flight->queued_at));
  flight->queue_span.End();
  recorder_.Progress();
  LogScope action({{"action_digest", flight->spec.job.action.digest.hash()}});
  LogScope trace(TraceFields(flight->trace));
  flight->Tell(StateEvent(v1::Progress::RUNNING));
  auto outcome = Compile(*flight);
  flight->own_span.End();
  recorder_.Progress();
  Finish(flight, outcome);
}

void Scheduler::WatchQueue() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait_for(lock, kQueueInterval);
    lock.unlock();
    ExpireOverdue();
    lock.lock();
  }
}

void Scheduler::ExpireOverdue() {
  auto now = Clock::now();
  std::vector<Ticket> overdue;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [name, flight] : flights_) {
      if (flight->waiting && flight->queue_until <= now) {
        overdue.push_back(flight);
      }
    }
    for (const Ticket& flight : overdue) {
      flight->waiting = false;
      --waiting_;
      Forget(flight);
    }
  }
  for (const Ticket& flight : overdue) {
    auto outcome = std::make_shared<CompileOutcome>();
    outcome->failure = Failure{
        "QUEUE_TIMEOUT",
        "the compile waited for a worker for longer than it may",
        {{"queued_seconds", std::to_string(SecondsSince(flight->queued_at))}}};
    metrics_->Count(Metric::kQueueTimeouts);
    flight->End(outcome);
  }
}

int64_t Scheduler::queued() const {
  std::lock_guard lock(mutex_);
  return waiting_;
}

int64_t Scheduler::running() const {
  std::lock_guard lock(mutex_);
  return running_;
}

std::chrono::milliseconds Scheduler::oldest_wait() const {
  auto now = Clock::now();
  auto oldest = now;
  std::lock_guard lock(mutex_);
  for (const auto& [name, flight] : flights_) {
    if (flight->waiting) oldest = std::min(oldest, flight->queued_at);
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(now - oldest);
}

std::chrono::milliseconds Scheduler::stalled() const {
  auto now = Clock::now();
  auto since = now;
  std::lock_guard lock(mutex_);
  if (running_ >= limits_.workers) return std::chrono::milliseconds(0);
  for (const auto& [name, flight] : flights_) {
    if (flight->waiting) since = std::min(since, flight->queued_at);
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      now - std::max(since, std::min(moved_, now)));
}

std::shared_ptr<CompileOutcome> Scheduler::Compile(Flight& flight) {
  auto outcome = std::make_shared<CompileOutcome>();
  outcome->run.set_host(HostName());
  std::optional<CachedResult> answer = flight.spec.answer;
  // A compile of the same action may have ended after the caller looked.
  if (!answer && !flight.spec.fresh) answer = cache_->Find(NameOf(flight.spec));
  if (answer) {
    outcome->result = std::move(*answer);
    outcome->run.set_cached(true);
    return outcome;
  }
  const CrashKey model = {flight.spec.instance,
                          flight.spec.manifest.model_digest(),
                          runner_->compiler_id()};
  if (crashes_ != nullptr) outcome->failure = crashes_->Refuse(model);
  if (outcome->failure) {
    metrics_->Count(Metric::kCrashRefusals);
    return outcome;
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
  if (crashes_ != nullptr) crashes_->Record(model, job);
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
  report->set_action_digest(flight.spec.job.action.digest.hash());
  outcome->result.artifact_digest.set_hash(report->artifact().digest());
  outcome->result.artifact_digest.set_size_bytes(
      report->artifact().size_bytes());
  outcome->result.artifact = std::move(job.artifact);
  outcome->result.report = std::move(report);
  outcome->result.dump = std::move(job.dump);
  outcome->failure = cache_->Recalled(NameOf(flight.spec),
                                      outcome->result.artifact_digest.hash());
  if (!outcome->failure) Keep(flight, outcome.get());
  return outcome;
}

void Scheduler::Keep(const Flight& flight, CompileOutcome* outcome) {
  const CachedResult& result = outcome->result;
  ActionName name = NameOf(flight.spec);
  absl::Status status = cache_->Save(name, result, &flight.spec.job.action);
  if (status.ok()) {
    v1::Manifest manifest = flight.spec.manifest;
    const v1::ArtifactSummary& summary = result.report->artifact();
    manifest.mutable_artifact()->set_hash(summary.digest());
    manifest.mutable_artifact()->set_size_bytes(summary.size_bytes());
    manifest.set_action_digest(name.hash);
    manifest.set_arena_bytes(summary.arena_bytes());
    manifest.set_exactness(summary.exactness());
    manifest.set_integer_only(summary.integer_only());
    status = cache_->AddManifest(manifest, flight.spec.instance);
  }
  if (status.ok()) {
    if (result.artifact_digest.size_bytes() <= kLargeArtifactBytes) return;
    // What is large is read from the cache from here on, a piece at a time,
    // and is held there until the last caller has it.
    auto kept = cache_->Find(name);
    if (kept) outcome->result = std::move(*kept);
    return;
  }
  // The caller has the result all the same.
  metrics_->Count(Metric::kCacheWriteErrors);
  LogScope scope({{"error", std::string(status.message())}});
  spdlog::warn("a result is not kept");
}

void Scheduler::Finish(const Ticket& flight,
                       const std::shared_ptr<const CompileOutcome>& outcome) {
  {
    std::lock_guard lock(mutex_);
    --running_;
    moved_ = Clock::now();
    Forget(flight);
  }
  flight->End(outcome);
}

}  // namespace fold
