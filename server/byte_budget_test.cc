#include "server/byte_budget.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace fold {
namespace {

TEST(ByteBudget, GrantsUpToItsLimitAndTakesBack) {
  ByteBudget budget(100);
  {
    auto first = budget.Take(60);
    ASSERT_TRUE(first.has_value());
    EXPECT_FALSE(budget.Take(41).has_value());
    auto second = budget.Take(40);
    EXPECT_TRUE(second.has_value());
    EXPECT_EQ(budget.held(), 100);
    ByteBudget::Grant moved = std::move(*second);
    second.reset();
    EXPECT_EQ(budget.held(), 100);
  }
  EXPECT_EQ(budget.held(), 0);
  EXPECT_FALSE(budget.Take(101).has_value());
}

TEST(ByteBudget, ThreadsNeverHoldMore) {
  ByteBudget budget(10);
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        auto grant = budget.Take(4);
        if (budget.held() > 10) over = true;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(over);
  EXPECT_EQ(budget.held(), 0);
}

TEST(ByteBudget, WaitersAreServedInTheirOrder) {
  ByteBudget budget(100);
  std::vector<int> served;
  std::vector<ByteBudget::Grant> held;
  auto wait = [&](int name, int64_t bytes) {
    return budget.Wait(bytes, [&, name](ByteBudget::Grant grant) {
      served.push_back(name);
      held.push_back(std::move(grant));
    });
  };
  auto first = budget.Take(90);
  EXPECT_EQ(wait(0, 10), 0);  // fits: at once
  int64_t large = wait(1, 80);
  EXPECT_NE(large, 0);
  EXPECT_NE(wait(2, 10), 0);
  EXPECT_EQ(budget.waiting(), 2);
  // Nobody overtakes, not even with what would fit.
  held.clear();
  EXPECT_EQ(served, (std::vector<int>{0}));
  EXPECT_FALSE(budget.Take(1).has_value());
  // Who gives up lets the next one go.
  EXPECT_TRUE(budget.GiveUp(large));
  EXPECT_FALSE(budget.GiveUp(large));
  EXPECT_EQ(served, (std::vector<int>{0, 2}));
  EXPECT_EQ(budget.held(), 100);
  first->ShrinkTo(30);
  EXPECT_EQ(budget.held(), 40);
  EXPECT_EQ(first->bytes(), 30);
  held.clear();
  first.reset();
  // More than the limit comes alone.
  EXPECT_EQ(wait(3, 150), 0);
  EXPECT_NE(wait(4, 1), 0);
  std::vector<ByteBudget::Grant>().swap(held);
  EXPECT_EQ(served, (std::vector<int>{0, 2, 3, 4}));
  std::vector<ByteBudget::Grant>().swap(held);
  EXPECT_EQ(budget.held(), 0);
}

TEST(ByteBudget, ThreadsThatWaitAllGetTheirs) {
  ByteBudget budget(10);
  std::atomic<int> served{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        (void)budget.Wait(7, [&](ByteBudget::Grant) {
          ++served;
          if (budget.held() > 10) over = true;
        });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(served, 8000);
  EXPECT_FALSE(over);
  EXPECT_EQ(budget.held(), 0);
}

}  // namespace
}  // namespace fold
