#include "server/byte_budget.h"

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

}  // namespace
}  // namespace fold
