#include "compiler/plan/planner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/plan/plan_cases.h"
#include "compiler/plan/problem_csv.h"
#include "compiler/plan/validator.h"

namespace fold {
namespace {

PlanResult Plan(const Problem& problem, const PlanOptions& options = {}) {
  EXPECT_EQ(ProblemFault(problem), "");
  PlanResult result = PlanMemory(problem, options);
  EXPECT_EQ(SolutionFault(problem, result.solution), "");
  EXPECT_LE(result.lower_bound, result.solution.height);
  EXPECT_EQ(result.proven_optimal,
            result.lower_bound == result.solution.height);
  return result;
}

TEST(Planner, NothingNeedsNothing) {
  const PlanResult result = Plan({});
  EXPECT_EQ(result.solution.height, 0);
  EXPECT_TRUE(result.proven_optimal);
}

TEST(Planner, IsAsGoodAsBruteForce) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const Problem problem =
        DrawProblem(1000 + seed, 1 + seed % 7, 6, 30, seed % 2 == 0);
    const PlanResult result = Plan(problem);
    ASSERT_EQ(result.solution.height, BruteForceHeight(problem)) << seed;
    ASSERT_TRUE(result.proven_optimal) << seed;
  }
}

TEST(Planner, PlansAreValidWhateverTheBudget) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Problem problem = seed % 2
                                ? DrawProblem(seed, 60, 20, 100, seed % 4 == 1)
                                : DrawFullProblem(seed, 20, 100);
    PlanOptions options;
    options.exact = false;
    const int64_t first_fit = Plan(problem, options).solution.height;
    options.exact = true;
    for (int64_t budget : {0, 1, 100, 5000}) {
      options.node_budget = budget;
      const PlanResult result = Plan(problem, options);
      EXPECT_LE(result.solution.height, first_fit);
      EXPECT_LE(result.nodes, budget);
    }
  }
}

// First fit leaves a gap here that the search closes.
TEST(Planner, SearchBeatsFirstFit) {
  Problem problem;
  bool beaten = false;
  for (uint32_t seed = 0; seed < 200 && !beaten; ++seed) {
    problem = DrawFullProblem(seed, 12, 30);
    PlanOptions options;
    options.exact = false;
    const PlanResult first = Plan(problem, options), best = Plan(problem);
    EXPECT_EQ(first.method, "first_fit");
    beaten = best.solution.height < first.solution.height;
    if (beaten) {
      EXPECT_EQ(best.method, "exact_search");
    }
  }
  EXPECT_TRUE(beaten);
}

TEST(Planner, TheSameProblemHasTheSamePlan) {
  const Problem problem = DrawProblem(5, 80, 30, 100, true);
  const PlanResult a = Plan(problem), b = Plan(problem);
  EXPECT_EQ(a.solution.offsets, b.solution.offsets);
  EXPECT_EQ(a.nodes, b.nodes);
}

TEST(Planner, ProvesThatABoundCannotBeMet) {
  const PlanResult result = Plan(GapProblem());
  EXPECT_EQ(result.solution.height, 8);
  EXPECT_EQ(result.lower_bound, 8);
  EXPECT_TRUE(result.proven_optimal);
}

TEST(Planner, ManyBuffersArePlannedByFirstFit) {
  const Problem problem = DrawFullProblem(1, 900, 1000);
  ASSERT_GT(problem.buffers.size(), 4096u);
  const PlanResult result = Plan(problem);
  EXPECT_EQ(result.method, "first_fit");
  EXPECT_EQ(result.nodes, 0);
}

// Under a capacity that first fit misses, the capacity comes before the proof.
TEST(Planner, FitsTheCapacity) {
  int missed = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Problem problem = DrawFullProblem(seed, 20, 1000);
    problem.capacity = 1200;
    PlanOptions options;
    options.exact = false;
    missed += Plan(problem, options).solution.height > problem.capacity;
    options.exact = true;
    options.node_budget = 20'000;
    EXPECT_LE(Plan(problem, options).solution.height, problem.capacity) << seed;
  }
  EXPECT_GT(missed, 0);
}

// The published MiniMalloc instances, where they are: heights and times are
// reported, only the plans' validity is tested.
TEST(Planner, PublishedInstances) {
  const char* folder = std::getenv("FOLD_PLAN_CASES");
  const std::filesystem::path root = folder ? folder : "../shared/minimalloc";
  if (!std::filesystem::is_directory(root)) {
    GTEST_SKIP() << "SKIPPED: no folder " << root
                 << "; set FOLD_PLAN_CASES to the instances";
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    Problem problem;
    ASSERT_EQ(ReadProblemCsv(text.str(), &problem), "") << file;
    const std::string stem = file.stem();  // A.1048576
    problem.capacity = std::atoll(stem.substr(stem.find('.') + 1).c_str());
    PlanOptions options;
    const char* budget = std::getenv("FOLD_PLAN_NODES");
    if (budget) options.node_budget = std::atoll(budget);
    const auto start = std::chrono::steady_clock::now();
    const PlanResult result = Plan(problem, options);
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    std::printf(
        "%-12s %3zu buffers  bound %8lld  height %8lld  %.3f%s  %lld nodes  "
        "%.2f s  %s\n",
        stem.c_str(), problem.buffers.size(),
        static_cast<long long>(result.lower_bound),
        static_cast<long long>(result.solution.height),
        static_cast<double>(result.solution.height) / problem.capacity,
        result.proven_optimal ? " optimal" : "",
        static_cast<long long>(result.nodes), seconds.count(),
        result.method.c_str());
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace fold
