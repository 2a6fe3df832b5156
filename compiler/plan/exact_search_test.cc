#include "compiler/plan/exact_search.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/plan/first_fit.h"
#include "compiler/plan/plan_cases.h"
#include "compiler/plan/validator.h"

namespace fold {
namespace {

SearchOutcome Search(const Problem& problem, int64_t capacity,
                     const ExactSearchOptions& options) {
  int64_t nodes = 1'000'000;
  const Packing packing = MakePacking(problem);
  std::vector<int64_t> offsets;
  const SearchOutcome outcome =
      SearchPlan(packing, SortBlocks(packing, BlockOrder::kArea), capacity,
                 options, &nodes, &offsets);
  if (outcome == SearchOutcome::kFound) {
    EXPECT_EQ(SolutionFault(problem, {offsets, capacity}), "");
  }
  return outcome;
}

// With every switch on and off: the least height is found, the next lower one
// is proved impossible.
void ExpectDecided(const Problem& problem, const std::string& name) {
  const int64_t best = BruteForceHeight(problem);
  for (int switches = 0; switches < 8; ++switches) {
    const ExactSearchOptions options{(switches & 1) != 0, (switches & 2) != 0,
                                     (switches & 4) != 0};
    ASSERT_EQ(Search(problem, best, options), SearchOutcome::kFound)
        << name << " switches " << switches;
    if (best == 0) continue;
    ASSERT_EQ(Search(problem, best - 1, options), SearchOutcome::kImpossible)
        << name << " switches " << switches;
  }
}

TEST(ExactSearch, DecidesAsBruteForceDoes) {
  for (int seed = 0; seed < 150; ++seed) {
    ExpectDecided(
        DrawProblem(seed, 3 + seed % 5, 6, seed % 2 ? 9 : 40, seed % 3 == 0),
        "drawn " + std::to_string(seed));
  }
  for (int seed = 0; seed < 150; ++seed) {
    const Problem problem = DrawFullProblem(seed, 4, 8);
    if (problem.buffers.size() > 7) continue;
    ExpectDecided(problem, "full " + std::to_string(seed));
  }
}

TEST(ExactSearch, ProvesAGap) {
  const Problem problem = GapProblem();
  EXPECT_EQ(BruteForceHeight(problem), 8);
  EXPECT_EQ(MakePacking(problem).lower_bound, 7);
  ExpectDecided(problem, "gap");
}

// Nodes to decide these at their lower bounds.
int64_t NodesUsed(const ExactSearchOptions& options) {
  int64_t total = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Packing packing = MakePacking(DrawFullProblem(seed, 12, 8));
    int64_t nodes = 100'000;
    std::vector<int64_t> offsets;
    SearchPlan(packing, SortBlocks(packing, BlockOrder::kSize),
               packing.lower_bound, options, &nodes, &offsets);
    total += 100'000 - nodes;
  }
  return total;
}

TEST(ExactSearch, EverySwitchSavesNodes) {
  const int64_t all = NodesUsed({});
  EXPECT_LT(all, NodesUsed({false, true, true}));
  EXPECT_LT(all, NodesUsed({true, false, true}));
  EXPECT_LT(all, NodesUsed({true, true, false}));
}

TEST(ExactSearch, BackjumpingFindsPlansAndProvesNothing) {
  int found = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Problem problem = DrawFullProblem(seed, 12, 12);
    ExactSearchOptions options;
    options.backjump = true;
    const SearchOutcome outcome =
        Search(problem, MakePacking(problem).lower_bound, options);
    EXPECT_NE(outcome, SearchOutcome::kImpossible) << seed;
    found += outcome == SearchOutcome::kFound;
  }
  EXPECT_GT(found, 20);
  ExactSearchOptions options;
  options.backjump = true;
  EXPECT_EQ(Search(GapProblem(), 7, options), SearchOutcome::kExhausted);
}

TEST(ExactSearch, RunsOutOfNodes) {
  const Packing packing = MakePacking(DrawFullProblem(1, 40, 1000));
  int64_t nodes = 5;
  std::vector<int64_t> offsets;
  EXPECT_EQ(SearchPlan(packing, SortBlocks(packing, BlockOrder::kSize),
                       packing.lower_bound, {}, &nodes, &offsets),
            SearchOutcome::kExhausted);
  EXPECT_EQ(nodes, 0);
}

}  // namespace
}  // namespace fold
