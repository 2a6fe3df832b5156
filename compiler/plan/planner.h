// Plans an arena: an offset for each buffer, so that buffers that live at one
// time do not overlap, and the arena is as low as can be found.
//
// A pure function: the same problem and options give the same plan on every
// machine; effort is counted in nodes, never in seconds.
#ifndef FOLD_COMPILER_PLAN_PLANNER_H_
#define FOLD_COMPILER_PLAN_PLANNER_H_

#include <cstdint>
#include <string>

#include "compiler/plan/exact_search.h"
#include "compiler/plan/problem.h"

namespace fold {

struct PlanOptions {
  // Search exactly where first fit does not reach the lower bound (and there
  // are at most 4096 buffers).
  bool exact = true;
  // Blocks that the exact search may place in all (1 to 50 microseconds each).
  int64_t node_budget = 200'000;
  ExactSearchOptions
      search;  // but for backjump: every order is tried both ways
};

struct PlanResult {
  Solution solution;
  // No plan is lower: the largest sum of sizes that live at one time, or more
  // where the search has proved more.
  int64_t lower_bound = 0;
  // solution.height == lower_bound.
  bool proven_optimal = false;
  // "first_fit" or "exact_search": what found the solution.
  std::string method;
  int64_t nodes = 0;  // that the search placed
};

// Requires ProblemFault(problem) == "" (validator.h). Sizes count as rounded up
// to the smallest alignment in the problem, and so do heights. Always returns a
// valid plan, even if it is higher than problem.capacity; the capacity tells
// where to look first.
PlanResult PlanMemory(const Problem& problem, const PlanOptions& options = {});

}  // namespace fold

#endif  // FOLD_COMPILER_PLAN_PLANNER_H_
