// What a reduction reduces over.
#ifndef FOLD_COMPILER_OPS_POOL_H_
#define FOLD_COMPILER_OPS_POOL_H_

#include "compiler/ops/op_spec.h"

namespace fold {

// The reduced axes of a ReduceMean, ascending, from its attribute or operand 1;
// nullopt if they are not constant or out of range.
std::optional<std::vector<int64_t>> ReducedAxes(const OperandView& view);

}  // namespace fold

#endif  // FOLD_COMPILER_OPS_POOL_H_
