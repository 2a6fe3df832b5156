// Compiles belong to the scheduler; callers wait on them. Equal actions in
// flight are one compile. A compile is killed when its last waiter has left.
#ifndef FOLD_SERVER_SCHEDULER_H_
#define FOLD_SERVER_SCHEDULER_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "proto/foldd/v1/job.pb.h"
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
// after Leave has returned; they must not call the scheduler.
class CompileWaiter {
 public:
  virtual ~CompileWaiter() = default;
  virtual void OnJobEvent(const foldd::v1::JobEvent& event) = 0;
  virtual void OnOutcome(std::shared_ptr<const CompileOutcome> outcome) = 0;
};

struct CompileRequestSpec {
  CompileJob job;
  foldd::v1::Manifest manifest;  // what is known before the compile
  bool fresh = false;            // do not take the answer from the cache
  TraceContext trace;            // the caller's span; may be without a trace
};

class Scheduler {
 public:
  // Owns none of these. At most `workers` compiles run, `queue_length` wait.
  // `tracer` may be null.
  Scheduler(int64_t workers, int64_t queue_length, JobRunner* runner,
            ResultCache* cache, Metrics* metrics, Tracer* tracer = nullptr);

  class Flight;  // a compile that waits or runs
  using Ticket = std::shared_ptr<Flight>;

  // Joins the compile of this action or starts one. Then `waiter` hears of it
  // until its outcome; the outcome may come before Join returns. A Failure:
  // it could not be started, and nothing will be heard.
  std::optional<Failure> Join(CompileRequestSpec spec, CompileWaiter* waiter,
                              Ticket* ticket);
  // Stops waiting. The last one to leave kills the compile.
  void Leave(const Ticket& ticket, CompileWaiter* waiter);

  // Takes nothing more; waits for what runs at most so long, then kills it.
  // Whether all of it ended by itself.
  bool Drain(std::chrono::milliseconds limit);

  // The trace of a compile: of the caller who started it, or of its own. For
  // those who joined it: they link to it.
  static const TraceContext& TraceOf(const Ticket& ticket);

  int64_t queued() const { return pool_.queued(); }
  int64_t running() const { return pool_.running(); }
  // Seconds that the oldest compile has waited for a worker; 0 if none waits.
  double OldestQueuedSeconds();

 private:
  void Run(const Ticket& flight);
  std::shared_ptr<CompileOutcome> Compile(Flight& flight);
  void Keep(const Flight& flight, CompileOutcome* outcome);
  void Finish(const Ticket& flight,
              std::shared_ptr<const CompileOutcome> outcome);

  JobRunner* const runner_;
  ResultCache* const cache_;
  Metrics* const metrics_;
  Tracer* const tracer_;
  JobRecorder recorder_;
  std::mutex mutex_;
  bool draining_ = false;
  std::map<std::string, Ticket> flights_;  // by action hash
  WorkerPool pool_;                        // last: its threads use the rest
};

}  // namespace fold

#endif  // FOLD_SERVER_SCHEDULER_H_
