// Exact search for a plan of at most a given height, after the ideas of
// M. Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
// Hardware-Accelerated Machine Learning", ASPLOS 2023 (vol. 4): blocks are
// placed from the bottom up in the order of their offsets, each resting on what
// is below it; whatever can be moved down is not looked at; a section whose
// rest cannot fit above its floor ends the branch; parts that share no block
// any more are solved on their own.
#ifndef FOLD_COMPILER_PLAN_EXACT_SEARCH_H_
#define FOLD_COMPILER_PLAN_EXACT_SEARCH_H_

#include <cstdint>
#include <vector>

#include "compiler/plan/packing.h"

namespace fold {

struct ExactSearchOptions {
  // Sums over the blocks above each level, not only above the lowest.
  bool level_bounds = true;
  // Skip a block where another fits below it.
  bool dominance = true;
  // Solve parts without a common block apart.
  bool decomposition = true;
  // After a failure go back to a block that shares a section with what could
  // not be placed. Finds plans sooner and gives up ways that might have led to
  // one: proves nothing.
  bool backjump = false;
};

enum class SearchOutcome {
  kFound,       // offsets hold a plan
  kImpossible,  // no plan is that low
  kExhausted,   // the nodes ran out, or backjumping ended without a plan
};

// Looks for a plan of height <= capacity, trying blocks in `order` where offset
// and bounds leave a choice. `nodes` is how many blocks may be placed; what is
// left is written back. Deterministic. Memory O(n + overlaps), recursion O(n).
SearchOutcome SearchPlan(const Packing& packing, const std::vector<int>& order,
                         int64_t capacity, const ExactSearchOptions& options,
                         int64_t* nodes, std::vector<int64_t>* offsets);

}  // namespace fold

#endif  // FOLD_COMPILER_PLAN_EXACT_SEARCH_H_
