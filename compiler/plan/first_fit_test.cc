#include "compiler/plan/first_fit.h"

#include <gtest/gtest.h>

namespace fold {
namespace {

Packing Make(std::vector<Buffer> buffers) {
  Problem problem;
  problem.buffers = std::move(buffers);
  return MakePacking(problem);
}

TEST(FirstFit, TakesTheLowestGap) {
  const Packing packing =
      Make({{"", 0, 4, 4}, {"", 0, 1, 4}, {"", 0, 4, 4}, {"", 2, 4, 4}});
  EXPECT_EQ(FirstFit(packing, {0, 1, 2, 3}),
            (std::vector<int64_t>{0, 4, 8, 4}));
  EXPECT_EQ(FirstFit(packing, {3, 2, 1, 0}),
            (std::vector<int64_t>{8, 0, 4, 0}));
}

TEST(FirstFit, AGapMustHoldTheBlockAlignedAndWhole) {
  const Packing packing = Make(
      {{"", 0, 2, 6, 2}, {"", 0, 1, 4, 2}, {"", 0, 2, 4, 2}, {"", 1, 2, 4, 4}});
  EXPECT_EQ(FirstFit(packing, {0, 1, 2, 3})[3], 16);
  const Packing wide = Make(
      {{"", 0, 2, 6, 2}, {"", 0, 1, 6, 2}, {"", 0, 2, 4, 2}, {"", 1, 2, 4, 4}});
  EXPECT_EQ(FirstFit(wide, {0, 1, 2, 3})[3], 8);
}

TEST(FirstFit, OrdersSortAsTheySay) {
  const Packing packing =
      Make({{"", 2, 3, 9}, {"", 0, 9, 3}, {"", 0, 2, 4}, {"", 5, 6, 1}});
  EXPECT_EQ(SortBlocks(packing, BlockOrder::kSize),
            (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(SortBlocks(packing, BlockOrder::kStart),
            (std::vector<int>{2, 1, 0, 3}));
  EXPECT_EQ(SortBlocks(packing, BlockOrder::kArea),
            (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(SortBlocks(packing, BlockOrder::kDuration),
            (std::vector<int>{1, 0, 2, 3}));
  EXPECT_EQ(SortBlocks(packing, BlockOrder::kPressure),
            (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace fold
