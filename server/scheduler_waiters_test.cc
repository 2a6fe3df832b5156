// Waiters that are dropped, or stuck, while they are told.
#include <condition_variable>
#include <thread>

#include "gtest/gtest.h"
#include "server/scheduler_test_fixture.h"

namespace fold {
namespace {

using std::chrono::milliseconds;
namespace v1 = foldd::v1;

using SchedulerWaitersTest = SchedulerTest;

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

TEST_F(SchedulerWaitersTest, AWaiterThatIsDroppedWhileItIsToldEndsAfterwards) {
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

TEST_F(SchedulerWaitersTest, AWaiterThatIsStuckHoldsUpNoOtherAndShows) {
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

}  // namespace
}  // namespace fold
