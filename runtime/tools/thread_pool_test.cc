#include "runtime/tools/thread_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace fold::tools {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (uint32_t tasks : {0u, 1u, 3u, 100u}) {
      for (int round = 0; round < 50; ++round) {
        std::vector<std::atomic<int>> done(100);
        ThreadPool::ParallelFor(
            &pool, tasks,
            [](void* context, uint32_t i) {
              ++(*static_cast<std::vector<std::atomic<int>>*>(context))[i];
            },
            &done);
        for (uint32_t i = 0; i < 100; ++i) {
          ASSERT_EQ(done[i], i < tasks ? 1 : 0);
        }
      }
    }
  }
}

// A thread that has gone to sleep wakes up for the next round.
TEST(ThreadPool, WakesSleepers) {
  ThreadPool pool(3);
  std::atomic<int> done{0};
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pool.Run(
        10,
        [](void* context, uint32_t) {
          ++*static_cast<std::atomic<int>*>(context);
        },
        &done);
    EXPECT_EQ(done, 10 * (round + 1));
  }
}

}  // namespace
}  // namespace fold::tools
