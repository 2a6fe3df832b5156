#include "server/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <latch>
#include <string>
#include <vector>

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

TEST(WorkerPool, AFloodOfOneClientDelaysAnotherByOneTaskAThread) {
  for (int64_t threads : {1, 3}) {
    std::mutex mutex;
    std::vector<std::string> order;
    std::latch go(1), held(threads);
    // No thread may run ahead of the others.
    std::barrier together(threads);
    WorkerPool pool(threads, 1000);
    for (int64_t i = 0; i < threads; ++i) {
      ASSERT_TRUE(pool.Submit([&] {
        held.count_down();
        go.wait();
      }));
    }
    held.wait();
    auto submit = [&](const std::string& client) {
      return pool.Submit(
          [&, client] {
            {
              std::lock_guard lock(mutex);
              order.push_back(client);
            }
            together.arrive_and_wait();
          },
          client);
    };
    for (int i = 0; i < 101; ++i) ASSERT_TRUE(submit("flood"));
    ASSERT_TRUE(submit("single"));
    go.count_down();
    ASSERT_TRUE(pool.WaitIdle(milliseconds(20'000)));
    auto at = std::find(order.begin(), order.end(), "single");
    EXPECT_LE(at - order.begin(), threads);
  }
}

TEST(WorkerPool, ClientsTakeTurnsAndEachKeepsItsOrder) {
  std::mutex mutex;
  std::vector<std::string> order;
  {
    WorkerPool pool(1, 100);
    std::latch go(1), held(1);
    ASSERT_TRUE(pool.Submit(
        [&] {
          held.count_down();
          go.wait();
        },
        "a"));
    held.wait();
    for (const char* task : {"a1", "a2", "a3", "b1", "c1", "b2"}) {
      ASSERT_TRUE(pool.Submit(
          [&, task] {
            std::lock_guard lock(mutex);
            order.emplace_back(task);
          },
          std::string(task, 1)));
    }
    EXPECT_GE(pool.queued(), 6);
    go.count_down();
  }
  EXPECT_EQ(order,
            (std::vector<std::string>{"a1", "b1", "c1", "a2", "b2", "a3"}));
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
