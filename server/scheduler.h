// Compiles belong to the scheduler; callers wait on them. Equal actions in
// flight are one compile. A compile is killed when its last waiter has left.
#ifndef FOLD_SERVER_SCHEDULER_H_
#define FOLD_SERVER_SCHEDULER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "proto/foldd/v1/job.pb.h"
#include "server/crash_list.h"
#include "server/failure.h"
#include "server/job_record.h"
#include "server/job_runner.h"
#include "server/metrics.h"
#include "server/result_cache.h"
#include "server/telemetry/trace.h"
#include "server/worker_pool.h"

namespace fold {

// How a compile ended, for all of its waiters.
struct CompileOutcome {
  std::optional<Failure> failure;
  CachedResult result;       // without a failure
  foldd::v1::RunRecord run;  // of this run; `cached` if it was not needed
};

// Someone who waits. Calls come from any thread, one at a time, and never
// after Leave has returned; they must not call the scheduler, which owns the
// waiter during the call and not otherwise: a waiter may be dropped by what it
// does with an outcome.
class CompileWaiter {
 public:
  virtual ~CompileWaiter() = default;
  virtual void OnJobEvent(const foldd::v1::JobEvent& event) = 0;
  virtual void OnOutcome(std::shared_ptr<const CompileOutcome> outcome) = 0;
};

struct CompileRequestSpec {
  CompileJob job;
  std::string instance;          // the namespace
  std::string client;            // who asks
  std::shared_ptr<void> quota;   // what it holds of that one's quota, if any
  foldd::v1::Manifest manifest;  // what is known before the compile
  bool fresh = false;            // do not take the answer from the cache
  // The answer, where it is known: then the job has no inputs and never runs.
  std::optional<CachedResult> answer;
  TraceContext trace;  // the caller's span; may be without a trace
  // How long this caller lets it wait for a worker; 0: as the scheduler says.
  std::chrono::milliseconds queue_timeout{0};
};

inline ActionName NameOf(const CompileRequestSpec& spec) {
  const Digest& digest = spec.job.action.digest;
  return {digest.hash(), digest.size_bytes(), spec.instance};
}

struct SchedulerLimits {
  int64_t workers = 1;                         // compiles that run
  int64_t queue_length = 0;                    // that wait
  std::chrono::milliseconds queue_timeout{0};  // and for how long
};

class Scheduler {
 public:
  // Owns none of these. Models that `crashes` refuses are not compiled; null:
  // none is refused. `tracer` may be null.
  Scheduler(SchedulerLimits limits, JobRunner* runner, ResultCache* cache,
            Metrics* metrics, CrashList* crashes = nullptr,
            Tracer* tracer = nullptr);
  ~Scheduler();

  class Flight;  // a compile that waits or runs
  using Ticket = std::shared_ptr<Flight>;

  // Joins the compile of this action or starts one. Then `waiter` hears of it
  // until its outcome; the outcome may come before Join returns. A Failure:
  // it could not be started, and nothing will be heard. One that waits for
  // longer than the most patient of its callers ends with QUEUE_TIMEOUT.
  std::optional<Failure> Join(CompileRequestSpec spec,
                              const std::shared_ptr<CompileWaiter>& waiter,
                              Ticket* ticket);
  // Stops waiting; also for a waiter in its destructor. The last one to leave
  // kills the compile.
  void Leave(const Ticket& ticket, const CompileWaiter* waiter);

  // Takes nothing more; waits for what runs at most so long, then kills it.
  // Whether all of it ended by itself.
  bool Drain(std::chrono::milliseconds limit);

  // The trace of a compile: of the caller who started it, or of its own. For
  // those who joined it: they link to it.
  static const TraceContext& TraceOf(const Ticket& ticket);

  int64_t queued() const;
  int64_t running() const;
  // How long the oldest that waits has waited.
  std::chrono::milliseconds oldest_wait() const;
  // For how long compiles have waited though a worker is free: 0 or next to it
  // unless dispatch is broken.
  std::chrono::milliseconds stalled() const;

 private:
  // The compile of a new flight; `lock` is of `mutex_`.
  std::optional<Failure> Begin(
      std::unique_lock<std::mutex> lock, const std::string& name,
      CompileRequestSpec spec,
      std::chrono::steady_clock::time_point queue_until,
      const std::shared_ptr<CompileWaiter>& waiter, Ticket* ticket);
  // Called with `mutex_` held: nobody joins it any more.
  void Forget(const Ticket& ticket);
  void Run(const Ticket& flight);
  // Whether it is this thread's to run: it still waited.
  bool TakeUp(const Ticket& flight);
  void WatchQueue();
  void ExpireOverdue();
  std::shared_ptr<CompileOutcome> Compile(Flight& flight);
  void Keep(const Flight& flight, CompileOutcome* outcome);
  void Finish(const Ticket& flight,
              const std::shared_ptr<const CompileOutcome>& outcome);

  const SchedulerLimits limits_;
  JobRunner* const runner_;
  ResultCache* const cache_;
  Metrics* const metrics_;
  CrashList* const crashes_;
  Tracer* const tracer_;
  JobRecorder recorder_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool draining_ = false;
  bool stopping_ = false;
  int64_t waiting_ = 0;
  int64_t running_ = 0;
  // When a worker last took a compile or was done with one.
  std::chrono::steady_clock::time_point moved_;
  std::map<std::string, Ticket> flights_;  // by instance and action hash
  WorkerPool pool_;                        // its threads use the rest
  std::unique_ptr<LoopThread> watch_;
};

}  // namespace fold

#endif  // FOLD_SERVER_SCHEDULER_H_
