#include "server/worker_pool.h"

#include <atomic>
#include <latch>

#include "gtest/gtest.h"

namespace fold {
namespace {

using std::chrono::milliseconds;

TEST(WorkerPool, RunsAsManyAsItHasThreads) {
  WorkerPool pool(3, 10);
  std::latch all_run(3);
  for (int i = 0; i < 3; ++i) {
    // Ends only if all three run at the same time.
    ASSERT_TRUE(pool.Submit([&] { all_run.arrive_and_wait(); }));
  }
  EXPECT_TRUE(pool.WaitIdle(milliseconds(20'000)));
}

TEST(WorkerPool, RefusesWhatTheQueueCannotHold) {
  WorkerPool pool(1, 2);
  std::latch go(1), started(1);
  std::atomic<int> ran{0};
  ASSERT_TRUE(pool.Submit([&] {
    started.count_down();
    go.wait();
    ++ran;
  }));
  started.wait();
  EXPECT_TRUE(pool.Submit([&] { ++ran; }));
  EXPECT_TRUE(pool.Submit([&] { ++ran; }));
  EXPECT_FALSE(pool.Submit([&] { ran += 100; }));
  EXPECT_EQ(pool.queued(), 2);
  EXPECT_EQ(pool.running(), 1);
  EXPECT_FALSE(pool.WaitIdle(milliseconds(20)));
  go.count_down();
  EXPECT_TRUE(pool.WaitIdle(milliseconds(20'000)));
  EXPECT_EQ(ran, 3);
}

TEST(WorkerPool, WithoutAQueueAFreeThreadStillTakesWork) {
  WorkerPool pool(1, 0);
  EXPECT_TRUE(pool.Submit([] {}));
  EXPECT_TRUE(pool.WaitIdle(milliseconds(20'000)));
  EXPECT_TRUE(pool.Submit([] {}));
}

TEST(WorkerPool, StopRefusesButRunsWhatWasAccepted) {
  std::atomic<int> ran{0};
  {
    WorkerPool pool(1, 10);
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(pool.Submit([&] {
        std::this_thread::sleep_for(milliseconds(5));
        ++ran;
      }));
    }
    pool.Stop();
    EXPECT_FALSE(pool.Submit([&] { ran += 100; }));
  }
  EXPECT_EQ(ran, 5);
}

}  // namespace
}  // namespace fold
