// The orders in which the exact search tries blocks. Which one finds a plan
// soon differs from problem to problem by orders of magnitude, so the planner
// goes through many of them with few nodes each.
#ifndef FOLD_COMPILER_PLAN_SEARCH_ORDERS_H_
#define FOLD_COMPILER_PLAN_SEARCH_ORDERS_H_

#include <vector>

#include "compiler/plan/packing.h"

namespace fold {

// The order of attempt 0, 1, 2, …: first those of first_fit.h, then blocks by
// products of powers of their size, duration and pressure (the fullest section
// that they are in), largest first; after a fixed list the powers, and some
// noise, come from a generator that is seeded with the number. Integers only.
std::vector<int> SearchOrder(const Packing& packing, int attempt);

// How many times the first attempt's nodes this attempt gets: 1 1 2 1 1 2 4 …
// (M. Luby, A. Sinclair, D. Zuckerman, "Optimal speedup of Las Vegas
// algorithms", 1993).
int64_t AttemptLength(int attempt);

}  // namespace fold

#endif  // FOLD_COMPILER_PLAN_SEARCH_ORDERS_H_
