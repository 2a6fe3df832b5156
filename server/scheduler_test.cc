#include <map>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/scheduler_test_fixture.h"

namespace fold {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;
namespace v1 = foldd::v1;

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

TEST_F(SchedulerTest, AnAnswerThatIsKnownNeedsNoInputsAndIsNoCompile) {
  Make(1, 8);
  Waiter busy, answered, fresh;
  Join("sleep 500", &busy);
  busy.WaitRunning();
  // The cache has lost it by the time a worker is free.
  CompileRequestSpec spec = Spec("size 700");
  spec.job.inputs.clear();
  spec.answer = CachedResult();
  spec.answer->artifact = std::make_shared<const std::string>("the answer");
  Scheduler::Ticket first, second;
  ASSERT_FALSE(scheduler_->Join(spec, Hold(&answered), &first).has_value());
  // One that insists on a compile does not get what is known.
  spec = Spec("size 700");
  spec.fresh = true;
  ASSERT_FALSE(scheduler_->Join(spec, Hold(&fresh), &second).has_value());
  ASSERT_EQ(answered.Reason(), "DONE");
  EXPECT_TRUE(answered.Wait()->run.cached());
  EXPECT_EQ(*answered.Wait()->result.artifact, "the answer");
  ASSERT_EQ(fresh.Reason(), "DONE");
  EXPECT_FALSE(fresh.Wait()->run.cached());
  EXPECT_EQ(fresh.Wait()->result.artifact->size(), 700u);
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
