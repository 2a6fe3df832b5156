// Range analysis: which codes a value can take.
#ifndef FOLD_COMPILER_LOWER_REACHABLE_CODES_H_
#define FOLD_COMPILER_LOWER_REACHABLE_CODES_H_

#include <cstdint>

#include "compiler/ir/graph.h"

namespace fold {

struct CodeInterval {
  int64_t low = 0, high = 0;
  bool Contains(int64_t code) const { return low <= code && code <= high; }
};

// No code outside of it is ever taken: the range of the type, the range that
// its encoding states, and the last clamp (a step, or a Clip on codes) of what
// makes it, also through operators that only move elements. Requires an
// encoding of one scale.
CodeInterval ReachableCodes(const Graph& graph, ValueId id);

}  // namespace fold

#endif  // FOLD_COMPILER_LOWER_REACHABLE_CODES_H_
