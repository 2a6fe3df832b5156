#include "compiler/plan/packing.h"

#include <gtest/gtest.h>

#include <random>

namespace fold {
namespace {

TEST(Packing, SectionsAreTheMaximalSets) {
  Problem problem;
  problem.buffers = {{"", 0, 10, 4}, {"", 1, 3, 2},   {"", 3, 5, 8},
                     {"", 4, 7, 2},  {"", 20, 21, 6}, {"", 0, 30, 0}};
  const Packing packing = MakePacking(problem);
  EXPECT_EQ(packing.sections,
            (std::vector<std::vector<int>>{{0, 1}, {0, 2, 3}, {4}}));
  EXPECT_EQ(packing.overlaps, (std::vector<std::vector<int>>{
                                  {1, 2, 3}, {0}, {0, 3}, {0, 2}, {}, {}}));
  EXPECT_EQ(packing.lower_bound, 14);
  EXPECT_EQ(packing.granule, 2);
  EXPECT_EQ(packing.blocks[0].first, 0);
  EXPECT_EQ(packing.blocks[0].last, 1);
  EXPECT_GT(packing.blocks[5].first, packing.blocks[5].last);
}

TEST(Packing, SizesAreRoundedUpToTheSmallestAlignment) {
  Problem problem;
  problem.buffers = {{"", 0, 1, 5, 4}, {"", 0, 1, 9, 16}};
  const Packing packing = MakePacking(problem);
  EXPECT_EQ(packing.unit, 4);
  EXPECT_EQ(packing.blocks[0].size, 8);
  EXPECT_EQ(packing.blocks[1].size, 12);
  EXPECT_EQ(packing.granule, 4);
  EXPECT_EQ(packing.lower_bound, 20);
  EXPECT_EQ(HeightOf(packing, {0, 16}), 28);
}

TEST(Packing, GranuleDividesEveryAlignedOffset) {
  Problem problem;
  problem.buffers = {{"", 0, 1, 24, 1}, {"", 0, 1, 48, 16}};
  EXPECT_EQ(MakePacking(problem).granule, 8);
  problem.buffers[1].alignment = 8;
  EXPECT_EQ(MakePacking(problem).granule, 24);
}

TEST(Packing, OverlapsAreThoseOfTheTimes) {
  std::mt19937 engine(7);
  for (int round = 0; round < 200; ++round) {
    Problem problem;
    for (int i = 0; i < 12; ++i) {
      const int64_t lower = engine() % 20;
      problem.buffers.push_back(
          {"", lower, lower + 1 + static_cast<int64_t>(engine() % 8), 1, 1});
    }
    const Packing packing = MakePacking(problem);
    for (int i = 0; i < 12; ++i) {
      std::vector<int> overlaps;
      for (int j = 0; j < 12; ++j) {
        const Buffer &a = problem.buffers[i], &b = problem.buffers[j];
        if (i != j && a.lower < b.upper && b.lower < a.upper) {
          overlaps.push_back(j);
        }
      }
      ASSERT_EQ(packing.overlaps[i], overlaps) << round;
    }
  }
}

}  // namespace
}  // namespace fold
