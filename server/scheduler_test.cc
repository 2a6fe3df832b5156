#include "server/scheduler.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/cache/memory_store.h"

namespace fold {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;
namespace v1 = foldd::v1;

class Waiter : public CompileWaiter {
 public:
  void OnJobEvent(const v1::JobEvent& event) override {
    std::lock_guard lock(mutex_);
    events.push_back(event);
    changed_.notify_all();
  }
  void OnOutcome(std::shared_ptr<const CompileOutcome> outcome) override {
    std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
    changed_.notify_all();
  }
  std::shared_ptr<const CompileOutcome> Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30),
                      [this] { return outcome_ != nullptr; });
    return outcome_;
  }
  void WaitRunning() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [this] {
      return !events.empty() &&
             events.back().progress().state() == v1::Progress::RUNNING;
    });
  }
  std::string Reason() {
    auto outcome = Wait();
    if (outcome == nullptr) return "(none)";
    return outcome->failure ? outcome->failure->reason : "DONE";
  }
  bool heard() {
    std::lock_guard lock(mutex_);
    return outcome_ != nullptr;
  }
  std::vector<v1::JobEvent> events;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const CompileOutcome> outcome_;
};

class SchedulerTest : public testing::Test {
 protected:
  void SetUp() override { Make(2, 8); }

  void Make(int64_t workers, int64_t queue) {
    scheduler_.reset();
    std::string folder = testing::TempDir() + "scheduler_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    auto started = CompilerProcess::Start(FAKE_COMPILER, [] {});
    ASSERT_TRUE(started.ok()) << started.status();
    process_ = std::move(*started);
    v1::JobLimits limits;
    limits.set_memory_bytes(int64_t{4} << 30);
    limits.set_cpu_seconds(60);
    limits.set_wall_milliseconds(60'000);
    limits.set_file_bytes(1 << 24);
    limits.set_open_files(64);
    runner_ = std::make_unique<JobRunner>(folder, limits, process_.get());
    metrics_ = std::make_unique<Metrics>();
    scheduler_ = std::make_unique<Scheduler>(
        SchedulerLimits{workers, queue, queue_timeout_}, runner_.get(), &cache_,
        metrics_.get(), &crashes_, &tracer_);
  }

  CompileRequestSpec Spec(const std::string& script) {
    ActionInputs inputs;
    inputs.model = DigestOf(script);
    inputs.target.set_name("t");
    inputs.target.set_default_io(v1::IO_FLOAT);
    CompileRequestSpec spec;
    spec.job.action = BuildAction(inputs);
    spec.job.inputs = {
        {std::string(kModelFile), std::make_shared<const std::string>(script)}};
    spec.manifest.set_model_digest(inputs.model.hash());
    spec.manifest.add_compatible("board");
    return spec;
  }

  // The test owns its waiters; this is what the scheduler takes.
  std::shared_ptr<CompileWaiter> Hold(Waiter* waiter) {
    return held_.emplace_back(waiter, [](CompileWaiter*) {});
  }

  Scheduler::Ticket Join(const std::string& script, Waiter* waiter) {
    Scheduler::Ticket ticket;
    auto failure = scheduler_->Join(Spec(script), Hold(waiter), &ticket);
    EXPECT_FALSE(failure.has_value());
    return ticket;
  }

  // Compiles that ran, as the metric counts them.
  bool RanTimes(int times) {
    return metrics_->Text().find("foldd_compile_duration_seconds_count " +
                                 std::to_string(times) + "\n") !=
           std::string::npos;
  }

  // The spans that have ended, by name; those of one name in no order.
  std::multimap<std::string, SpanRecord> Spans() {
    std::multimap<std::string, SpanRecord> spans;
    for (SpanRecord& span : tracer_.Take(1000, milliseconds(0))) {
      std::string name = span.name;
      spans.emplace(name, std::move(span));
    }
    return spans;
  }

  std::vector<std::shared_ptr<CompileWaiter>> held_;
  Tracer tracer_{true, 1, 1000};
  std::chrono::milliseconds queue_timeout_{60'000};
  MemoryStore store_{64 << 20};
  ResultCache cache_{&store_};
  std::unique_ptr<CompilerProcess> process_;
  CrashList crashes_{CrashLimits()};
  std::unique_ptr<JobRunner> runner_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<Scheduler> scheduler_;
};

// One that its owner drops while it is told, as a call ends on another thread.
// Its end leaves, as a call's does.
class DroppedWaiter : public CompileWaiter {
 public:
  struct Owner {
    std::mutex mutex;
    std::condition_variable changed;
    std::shared_ptr<CompileWaiter> waiter;
    Scheduler::Ticket ticket;
    std::string log;

    void Log(const std::string& words) {
      std::lock_guard lock(mutex);
      log += words;
      changed.notify_all();
    }
    std::string WaitForEnd() {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, std::chrono::seconds(30),
                       [this] { return log.find("gone") != log.npos; });
      return log;
    }
  };
  // Dropped at an outcome, or at the event RUNNING.
  DroppedWaiter(Scheduler* scheduler, Owner* owner, bool at_outcome)
      : scheduler_(scheduler), owner_(owner), at_outcome_(at_outcome) {}
  ~DroppedWaiter() override {
    scheduler_->Leave(owner_->ticket, this);
    owner_->Log("gone");
  }
  void OnJobEvent(const v1::JobEvent& event) override {
    bool running = event.progress().state() == v1::Progress::RUNNING;
    if (running && !at_outcome_) Drop();
  }
  void OnOutcome(std::shared_ptr<const CompileOutcome>) override {
    if (at_outcome_) Drop();
  }

 private:
  void Drop() {
    owner_->waiter.reset();
    owner_->Log("told,");
  }
  Scheduler* const scheduler_;
  Owner* const owner_;
  const bool at_outcome_;
};

TEST_F(SchedulerTest, AWaiterThatIsDroppedWhileItIsToldEndsAfterwards) {
  for (bool at_outcome : {false, true}) {
    DroppedWaiter::Owner owner;
    // Takes the only worker until the owner is ready.
    Make(1, 8);
    Waiter before;
    Join("sleep 200", &before);
    owner.waiter =
        std::make_shared<DroppedWaiter>(scheduler_.get(), &owner, at_outcome);
    std::shared_ptr<CompileWaiter> waiter = owner.waiter;
    ASSERT_FALSE(scheduler_->Join(Spec("sleep 50"), waiter, &owner.ticket));
    waiter.reset();
    EXPECT_EQ(owner.WaitForEnd(), "told,gone");
    EXPECT_EQ(before.Reason(), "DONE");
    scheduler_->Drain(std::chrono::seconds(10));
  }
}

// One who does not come back from being told.
class StuckWaiter : public Waiter {
 public:
  void OnOutcome(std::shared_ptr<const CompileOutcome> outcome) override {
    Waiter::OnOutcome(std::move(outcome));
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [this] { return free_; });
  }
  void Free() {
    std::lock_guard lock(mutex_);
    free_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool free_ = false;
};

TEST_F(SchedulerTest, AWaiterThatIsStuckHoldsUpNoOtherAndShows) {
  Make(2, 8);
  StuckWaiter stuck;
  auto ticket = Join("stuck", &stuck);
  ASSERT_EQ(stuck.Reason(), "DONE");
  Waiter other;
  Join("other", &other);
  EXPECT_EQ(other.Reason(), "DONE");
  EXPECT_EQ(scheduler_->stalled().count(), 0);
  // With no thread left, work waits, though no compile runs.
  StuckWaiter second;
  Join("second", &second);
  ASSERT_EQ(second.Reason(), "DONE");
  Waiter waits;
  Join("waits", &waits);
  for (int i = 0; i < 500 && scheduler_->stalled() < milliseconds(200); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_GE(scheduler_->stalled().count(), 200);
  EXPECT_EQ(scheduler_->running(), 0);
  stuck.Free();
  second.Free();
  EXPECT_EQ(waits.Reason(), "DONE");
  EXPECT_EQ(scheduler_->stalled().count(), 0);
}

TEST_F(SchedulerTest, WhatWaitsForTooLongEndsWithAReason) {
  queue_timeout_ = std::chrono::milliseconds(300);
  Make(1, 8);
  Waiter busy, waits, joins, impatient;
  auto ticket = Join("sleep 5000", &busy);
  Join("second", &waits);
  CompileRequestSpec spec = Spec("third");
  spec.queue_timeout = std::chrono::milliseconds(20);
  Scheduler::Ticket third;
  ASSERT_FALSE(scheduler_->Join(std::move(spec), Hold(&impatient), &third));
  auto outcome = impatient.Wait();
  ASSERT_NE(outcome, nullptr);
  EXPECT_EQ(outcome->failure->reason, "QUEUE_TIMEOUT");
  outcome = waits.Wait();
  ASSERT_NE(outcome, nullptr);
  EXPECT_EQ(outcome->failure->reason, "QUEUE_TIMEOUT");
  EXPECT_EQ(scheduler_->queued(), 0);
  EXPECT_EQ(scheduler_->running(), 1);
  // What runs is not bound by it, and the queue has room again.
  scheduler_->Leave(ticket, &busy);
  Join("fourth", &joins);
  outcome = joins.Wait();
  ASSERT_NE(outcome, nullptr);
  EXPECT_FALSE(outcome->failure.has_value());
}

TEST_F(SchedulerTest, InstancesDoNotShareCompiles) {
  Waiter one, other;
  CompileRequestSpec spec = Spec("sleep 300");
  spec.instance = "team";
  Scheduler::Ticket ticket;
  ASSERT_FALSE(scheduler_->Join(std::move(spec), Hold(&other), &ticket));
  Join("sleep 300", &one);
  ASSERT_NE(one.Wait(), nullptr);
  ASSERT_NE(other.Wait(), nullptr);
  EXPECT_TRUE(RanTimes(2));
  std::string hash = Spec("sleep 300").job.action.digest.hash();
  EXPECT_TRUE(cache_.Find(ActionName{hash, -1, "team"}).has_value());
  EXPECT_FALSE(cache_.Find(ActionName{hash, -1, "none"}).has_value());
}

TEST_F(SchedulerTest, CompilesAndKeepsTheResult) {
  Waiter waiter;
  Join("progress 3\ndiagnostic float_island n", &waiter);
  auto outcome = waiter.Wait();
  ASSERT_NE(outcome, nullptr);
  ASSERT_FALSE(outcome->failure.has_value()) << outcome->failure->message;
  std::string hash =
      Spec("progress 3\ndiagnostic float_island n").job.action.digest.hash();
  EXPECT_EQ(outcome->result.report->action_digest(), hash);
  EXPECT_FALSE(outcome->result.report->has_run());
  EXPECT_FALSE(outcome->run.cached());
  EXPECT_GT(outcome->run.peak_memory_bytes(), 0);
  EXPECT_EQ(*cache_.Find(hash)->artifact, *outcome->result.artifact);
  EXPECT_EQ(waiter.events.front().progress().state(), v1::Progress::QUEUED);
  EXPECT_EQ(waiter.events.back().diagnostic().node(), "n");
  EXPECT_TRUE(cache_.Resolve(
      Spec("progress 3\ndiagnostic float_island n").manifest.model_digest(),
      std::vector<std::string>{"board"}));
}

TEST_F(SchedulerTest, EqualActionsAreOneCompile) {
  std::deque<Waiter> waiters(32);
  for (Waiter& waiter : waiters) {
    Join("sleep 300\ndiagnostic float_island n", &waiter);
  }
  for (Waiter& waiter : waiters) EXPECT_EQ(waiter.Reason(), "DONE");
  EXPECT_TRUE(RanTimes(1));
  EXPECT_EQ(waiters[0].Wait(), waiters[31].Wait());
  // Who joined late heard the same.
  EXPECT_EQ(waiters[31].events.back().diagnostic().node(), "n");
  // One that looked into the cache too early does not compile again.
  Waiter late;
  Join("sleep 300\ndiagnostic float_island n", &late);
  EXPECT_TRUE(late.Wait()->run.cached());
  EXPECT_TRUE(RanTimes(1));
  // One that insists does.
  Waiter fresh;
  Scheduler::Ticket ticket;
  CompileRequestSpec spec = Spec("sleep 300\ndiagnostic float_island n");
  spec.fresh = true;
  ASSERT_FALSE(scheduler_->Join(spec, Hold(&fresh), &ticket).has_value());
  EXPECT_FALSE(fresh.Wait()->run.cached());
  EXPECT_TRUE(RanTimes(2));
}

TEST_F(SchedulerTest, SpansBelongToTheTraceOfTheFirstCaller) {
  Waiter first, second;
  CompileRequestSpec spec = Spec("sleep 100");
  TraceContext trace = spec.trace = NewTrace(true);
  Scheduler::Ticket one, two;
  ASSERT_FALSE(scheduler_->Join(spec, Hold(&first), &one).has_value());
  spec.trace = NewTrace(true);
  ASSERT_FALSE(scheduler_->Join(spec, Hold(&second), &two).has_value());
  EXPECT_EQ(Scheduler::TraceOf(two).span_id, trace.span_id);
  EXPECT_EQ(first.Reason() + second.Reason(), "DONEDONE");
  auto spans = Spans();
  ASSERT_EQ(spans.size(), 3u);
  ASSERT_TRUE(spans.count("queue") && spans.count("job") &&
              spans.count("pass fold"));
  const SpanRecord& queue = spans.find("queue")->second;
  const SpanRecord& job = spans.find("job")->second;
  const SpanRecord& pass = spans.find("pass fold")->second;
  EXPECT_EQ(queue.parent_span_id, trace.span_id);
  EXPECT_EQ(job.parent_span_id, trace.span_id);
  EXPECT_EQ(pass.parent_span_id, job.context.span_id);
  for (const auto& [name, span] : spans) {
    EXPECT_EQ(span.context.trace_id, trace.trace_id) << name;
  }
  EXPECT_LE(queue.end_nanos, job.start_nanos);
  EXPECT_LE(job.start_nanos, pass.start_nanos);
  EXPECT_LE(pass.end_nanos, job.end_nanos);
  EXPECT_GE(job.end_nanos - job.start_nanos, 100'000'000);
}

TEST_F(SchedulerTest, ACompileWithoutACallersTraceHasItsOwn) {
  Waiter waiter;
  Join("", &waiter);
  EXPECT_EQ(waiter.Reason(), "DONE");
  auto spans = Spans();
  ASSERT_EQ(spans.count("compile"), 1u);
  const SpanRecord& own = spans.find("compile")->second;
  EXPECT_EQ(own.parent_span_id, "");
  ASSERT_EQ(spans.count("job"), 1u);
  EXPECT_EQ(spans.find("job")->second.parent_span_id, own.context.span_id);
}

TEST_F(SchedulerTest, ATraceThatIsNotRecordedHasNoSpans) {
  Waiter waiter;
  CompileRequestSpec spec = Spec("");
  spec.trace = NewTrace(false);
  Scheduler::Ticket ticket;
  ASSERT_FALSE(scheduler_->Join(spec, Hold(&waiter), &ticket).has_value());
  EXPECT_EQ(waiter.Reason(), "DONE");
  EXPECT_TRUE(Spans().empty());
}

TEST_F(SchedulerTest, TheOldestThatWaitsIsKnown) {
  Make(1, 8);
  EXPECT_EQ(scheduler_->oldest_wait().count(), 0);
  Waiter running, waiting;
  Join("sleep 400", &running);
  running.WaitRunning();
  EXPECT_EQ(scheduler_->oldest_wait().count(), 0);
  Join("sleep 1", &waiting);
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_GE(scheduler_->oldest_wait(), milliseconds(50));
  EXPECT_EQ(waiting.Reason(), "DONE");
  EXPECT_EQ(scheduler_->oldest_wait().count(), 0);
}

TEST_F(SchedulerTest, TheLastWaiterToLeaveKillsTheCompile) {
  Waiter first, second;
  auto one = Join("sleep 60000", &first);
  auto two = Join("sleep 60000", &second);
  first.WaitRunning();
  scheduler_->Leave(one, &first);
  EXPECT_EQ(scheduler_->running(), 1);
  scheduler_->Leave(two, &second);
  for (int i = 0; i < 500 && scheduler_->running() > 0; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(scheduler_->running(), 0);
  EXPECT_FALSE(first.heard());
  EXPECT_FALSE(second.heard());
  EXPECT_THAT(metrics_->Text(), HasSubstr("reason=\"CALL_CANCELLED\""));
}

TEST_F(SchedulerTest, WhoComesAfterTheLastLeftStartsAnew) {
  Waiter gone, next;
  auto ticket = Join("sleep 400", &gone);
  gone.WaitRunning();
  scheduler_->Leave(ticket, &gone);
  Join("sleep 400", &next);
  EXPECT_EQ(next.Reason(), "DONE");
}

TEST_F(SchedulerTest, ACrashIsItsCallersAloneAndIsNotKept) {
  Waiter bad, same, good;
  Join("sleep 200\nsignal 9", &bad);
  Join("sleep 200\nsignal 9", &same);
  Join("sleep 400", &good);
  EXPECT_EQ(bad.Reason(), "COMPILER_CRASHED");
  EXPECT_EQ(same.Reason(), "COMPILER_CRASHED");
  EXPECT_EQ(good.Reason(), "DONE");
  EXPECT_FALSE(
      cache_.Find(Spec("sleep 200\nsignal 9").job.action.digest.hash()));
}

TEST_F(SchedulerTest, AModelThatCrashesTwiceIsNotRunAThirdTime) {
  for (int i = 0; i < 2; ++i) {
    Waiter crashing;
    Join("signal 11", &crashing);
    EXPECT_EQ(crashing.Reason(), "COMPILER_CRASHED");
  }
  Waiter refused, other;
  Join("signal 11", &refused);
  EXPECT_EQ(refused.Reason(), "MODEL_CRASHES_COMPILER");
  EXPECT_TRUE(RanTimes(2));
  EXPECT_THAT(metrics_->Text(), HasSubstr("foldd_crash_refusals_total 1\n"));
  Join("progress 1", &other);
  EXPECT_EQ(other.Reason(), "DONE");
  // In another namespace it has not crashed yet.
  Waiter elsewhere;
  CompileRequestSpec spec = Spec("signal 11");
  spec.instance = "elsewhere";
  Scheduler::Ticket ticket;
  ASSERT_FALSE(scheduler_->Join(spec, Hold(&elsewhere), &ticket).has_value());
  EXPECT_EQ(elsewhere.Reason(), "COMPILER_CRASHED");
}

TEST_F(SchedulerTest, AFullQueueRefuses) {
  Make(1, 1);
  Waiter running, queued, refused, joined;
  Join("sleep 1500", &running);
  running.WaitRunning();
  Join("exit 0", &queued);
  Scheduler::Ticket ticket;
  auto failure = scheduler_->Join(Spec("exit  0"), Hold(&refused), &ticket);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->reason, "QUEUE_FULL");
  // Joining costs no place in the queue.
  Join("sleep 1500", &joined);
  EXPECT_EQ(running.Reason(), "DONE");
  EXPECT_EQ(joined.Reason(), "DONE");
  EXPECT_EQ(queued.Reason(), "DONE");
}

TEST_F(SchedulerTest, OneThatIsLeftInTheQueueNeverRuns) {
  Make(1, 4);
  Waiter running, queued;
  Join("sleep 300", &running);
  running.WaitRunning();
  auto ticket = Join("progress 1", &queued);
  scheduler_->Leave(ticket, &queued);
  EXPECT_EQ(running.Reason(), "DONE");
  EXPECT_TRUE(scheduler_->Drain(milliseconds(10'000)));
  EXPECT_TRUE(RanTimes(1));
}

TEST_F(SchedulerTest, DrainFinishesWhatRunsAndRefusesMore) {
  Waiter running, more;
  Join("sleep 300", &running);
  running.WaitRunning();
  EXPECT_TRUE(scheduler_->Drain(milliseconds(10'000)));
  EXPECT_EQ(running.Reason(), "DONE");
  Scheduler::Ticket ticket;
  auto failure = scheduler_->Join(Spec("exit 0"), Hold(&more), &ticket);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->reason, "DRAINING");
}

TEST_F(SchedulerTest, DrainKillsWhatTakesTooLong) {
  Waiter running;
  Join("sleep 60000", &running);
  running.WaitRunning();
  EXPECT_FALSE(scheduler_->Drain(milliseconds(100)));
  EXPECT_EQ(running.Reason(), "DRAINING");
}

}  // namespace
}  // namespace fold
