#include "compiler/plan/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace fold {
namespace {

// Bytes at each step counted tensor by tensor, from first to last use.
int64_t SlowPeak(const Dataflow& flow, const std::vector<int>& order) {
  int64_t peak = 0;
  const int steps = static_cast<int>(order.size());
  for (int step = -1; step < steps; ++step) {
    int64_t live = step >= 0 ? flow.operations[order[step]].scratch : 0;
    for (int t = 0; t < static_cast<int>(flow.tensors.size()); ++t) {
      int born = -1, last = flow.tensors[t].output ? steps : -2;
      for (int at = 0; at < steps; ++at) {
        const auto& operation = flow.operations[order[at]];
        for (int w : operation.writes) {
          if (w == t) born = at;
          if (w == t) last = std::max(last, at);
        }
        for (int r : operation.reads) {
          if (r == t) last = std::max(last, at);
        }
      }
      if (born <= step && step <= last) live += flow.tensors[t].size;
    }
    peak = std::max(peak, live);
  }
  return peak;
}

bool IsOrder(const Dataflow& flow, const std::vector<int>& order) {
  std::vector<bool> written(flow.tensors.size(), true);
  for (const auto& op : flow.operations) {
    for (int t : op.writes) written[t] = false;
  }
  std::vector<bool> ran(flow.operations.size());
  for (int op : order) {
    if (ran[op]) return false;
    ran[op] = true;
    for (int t : flow.operations[op].reads) {
      if (!written[t]) return false;
    }
    for (int t : flow.operations[op].writes) written[t] = true;
  }
  return order.size() == flow.operations.size();
}

int64_t BruteForcePeak(const Dataflow& flow) {
  std::vector<int> order(flow.operations.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    if (IsOrder(flow, order)) best = std::min(best, SlowPeak(flow, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

Dataflow Draw(uint32_t seed, int count) {
  std::mt19937 engine(seed);
  Dataflow flow;
  flow.tensors.push_back({static_cast<int64_t>(engine() % 50), false});
  flow.tensors.push_back({static_cast<int64_t>(engine() % 50), true});
  for (int op = 0; op < count; ++op) {
    Dataflow::Operation operation;
    for (int i = 1 + static_cast<int>(engine() % 2); i > 0; --i) {
      operation.reads.push_back(
          static_cast<int>(engine() % flow.tensors.size()));
    }
    for (int i = 1 + static_cast<int>(engine() % 4 == 0); i > 0; --i) {
      operation.writes.push_back(static_cast<int>(flow.tensors.size()));
      flow.tensors.push_back(
          {static_cast<int64_t>(engine() % 50), engine() % 6 == 0});
    }
    operation.scratch = engine() % 3 == 0 ? engine() % 40 : 0;
    flow.operations.push_back(operation);
  }
  return flow;
}

TEST(Order, PeakIsCountedByLifespans) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Dataflow flow = Draw(seed, 7);
    std::vector<int> order(7);
    std::iota(order.begin(), order.end(), 0);
    ASSERT_EQ(PeakOf(flow, order), SlowPeak(flow, order)) << seed;
  }
}

TEST(Order, IsAsGoodAsBruteForce) {
  for (uint32_t seed = 0; seed < 120; ++seed) {
    const Dataflow flow = Draw(seed, 3 + static_cast<int>(seed % 5));
    const OrderResult result = ChooseOrder(flow);
    ASSERT_TRUE(IsOrder(flow, result.order)) << seed;
    ASSERT_EQ(result.peak, SlowPeak(flow, result.order)) << seed;
    ASSERT_EQ(result.peak, BruteForcePeak(flow)) << seed;
    ASSERT_TRUE(result.proven_optimal) << seed;
  }
}

// Two branches: finishing the one that shrinks first is better than the given
// order, which opens both.
TEST(Order, FinishesABranchBeforeTheNext) {
  Dataflow flow;
  flow.tensors = {{10}, {100}, {100}, {1}, {1}, {1, true}};
  flow.operations = {
      {{0}, {1}}, {{0}, {2}}, {{1}, {3}}, {{2}, {4}}, {{3, 4}, {5}}};
  EXPECT_EQ(PeakOf(flow, {0, 1, 2, 3, 4}), 210);
  const OrderResult result = ChooseOrder(flow);
  EXPECT_EQ(result.order, (std::vector<int>{0, 2, 1, 3, 4}));
  EXPECT_EQ(result.peak, 111);
  EXPECT_TRUE(result.proven_optimal);
}

TEST(Order, KeepsTheGivenOrderWhereNothingIsBetter) {
  Dataflow flow;
  flow.tensors = {{8}, {8}, {8}, {8, true}};
  flow.operations = {{{0}, {1}}, {{0}, {2}}, {{1, 2}, {3}}};
  EXPECT_EQ(ChooseOrder(flow).order, (std::vector<int>{0, 1, 2}));
}

TEST(Order, ReordersWhatIsNotTopological) {
  Dataflow flow;
  flow.tensors = {{8}, {8}, {8, true}};
  flow.operations = {{{1}, {2}}, {{0}, {1}}};
  EXPECT_EQ(ChooseOrder(flow).order, (std::vector<int>{1, 0}));
}

TEST(Order, RefusesWhatHasNoOrder) {
  Dataflow cycle;
  cycle.tensors = {{8}, {8}};
  cycle.operations = {{{1}, {0}}, {{0}, {1}}};
  EXPECT_TRUE(ChooseOrder(cycle).order.empty());
  Dataflow twice;
  twice.tensors = {{8}};
  twice.operations = {{{}, {0}}, {{}, {0}}};
  EXPECT_TRUE(ChooseOrder(twice).order.empty());
  Dataflow unknown;
  unknown.operations = {{{3}, {}}};
  EXPECT_TRUE(ChooseOrder(unknown).order.empty());
}

TEST(Order, ASmallBudgetStillGivesAnOrder) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Dataflow flow = Draw(seed, 70);
    OrderOptions options;
    options.state_budget = 1;
    const OrderResult narrow = ChooseOrder(flow, options);
    const OrderResult wide = ChooseOrder(flow);
    EXPECT_TRUE(IsOrder(flow, narrow.order));
    EXPECT_TRUE(IsOrder(flow, wide.order));
    EXPECT_LE(wide.peak, narrow.peak);
  }
}

}  // namespace
}  // namespace fold
