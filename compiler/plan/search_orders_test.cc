#include "compiler/plan/search_orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace fold {
namespace {

Packing Some() {
  Problem problem;
  for (int64_t i = 0; i < 12; ++i) {
    problem.buffers.push_back({"", i, i + 1 + i * 7 % 5, 16 + i * 37 % 11, 1});
  }
  return MakePacking(problem);
}

TEST(SearchOrders, EveryAttemptOrdersAllBlocks) {
  const Packing packing = Some();
  std::set<std::vector<int>> orders;
  for (int attempt = 0; attempt < 40; ++attempt) {
    std::vector<int> order = SearchOrder(packing, attempt);
    EXPECT_EQ(order, SearchOrder(packing, attempt));
    orders.insert(order);
    std::sort(order.begin(), order.end());
    for (int i = 0; i < 12; ++i) EXPECT_EQ(order[i], i);
  }
  EXPECT_GT(orders.size(), 20u);
}

TEST(SearchOrders, LengthsAreLubys) {
  const int64_t lengths[] = {1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8};
  for (int i = 0; i < 15; ++i) EXPECT_EQ(AttemptLength(i), lengths[i]) << i;
}

}  // namespace
}  // namespace fold
