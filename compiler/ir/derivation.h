// Constants that come from constants: each way by which a migration sheet may
// say that one does, carried out again.
#ifndef FOLD_COMPILER_IR_DERIVATION_H_
#define FOLD_COMPILER_IR_DERIVATION_H_

#include <cstdint>
#include <vector>

#include "compiler/ir/migration.h"
#include "compiler/ir/op_info.h"
#include "compiler/ir/type.h"

namespace fold {

// The code of `real` for `type`, whose encoding gives entry `channel` of its
// parameters, its rounding and its range. Exact where `real` and the scale are
// float32 numbers or products of them with codes; the scale is positive.
int64_t CodeOfReal(double real, const TensorType& type, int64_t channel = 0);

// `from` after one step. `goal` is the type that the last step must give: what
// a step leaves open (the shape, the element type) is taken from it. Null if
// the step does not apply. kEvaluated and kNamed are not steps of one tensor:
// null as well.
TensorPtr Derive(const Tensor& from, const Derivation& step,
                 const TensorType& goal, const Graph& graph);

// The elements of `from` with its axes permuted: new axis i is perm[i].
TensorPtr PermuteTensor(const Tensor& from, const std::vector<int64_t>& perm);

// Where `axis` of `from` lies after all of `steps`, -1 if its indices do not
// stay together; `goal` as for Derive.
int AxisBehind(const Shape& from, int axis,
               const std::vector<Derivation>& steps, const Shape& goal,
               const Graph& graph, const OpTable* ops);

// Equal types, shapes and numbers; a NaN is the same as any other.
bool SameNumbers(const Tensor& a, const Tensor& b);

}  // namespace fold

#endif  // FOLD_COMPILER_IR_DERIVATION_H_
