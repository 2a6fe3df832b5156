// A scheduler with the fake compiler, and one who waits for a compile.
#ifndef FOLD_SERVER_SCHEDULER_TEST_FIXTURE_H_
#define FOLD_SERVER_SCHEDULER_TEST_FIXTURE_H_

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/cache/memory_store.h"
#include "server/scheduler.h"

namespace fold {

class Waiter : public CompileWaiter {
 public:
  void OnJobEvent(const foldd::v1::JobEvent& event) override {
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
             events.back().progress().state() == foldd::v1::Progress::RUNNING;
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
  std::vector<foldd::v1::JobEvent> events;

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
    foldd::v1::JobLimits limits;
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
    inputs.target.set_default_io(foldd::v1::IO_FLOAT);
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
    for (SpanRecord& span : tracer_.Take(1000, std::chrono::milliseconds(0))) {
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

}  // namespace fold

#endif  // FOLD_SERVER_SCHEDULER_TEST_FIXTURE_H_
