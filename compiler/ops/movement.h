// Permutations and pads of the operators that move elements.
#ifndef FOLD_COMPILER_OPS_MOVEMENT_H_
#define FOLD_COMPILER_OPS_MOVEMENT_H_

#include <optional>
#include <vector>

#include "compiler/ops/op_spec.h"

namespace fold {

// The permutation of a Transpose: output dimension i is input dimension
// perm[i]. nullopt if it is none of `rank` dimensions.
std::optional<std::vector<int64_t>> PermutationOf(const Node& node,
                                                  size_t rank);

// The tensor with its dimensions permuted; same element type.
TensorPtr TransposeTensor(const Tensor& tensor,
                          const std::vector<int64_t>& perm);

// Where dimension `axis` of a tensor is after it has been reshaped: the
// dimension of the same size with as many elements in front of it. nullopt if
// the reshaping joins it with others or takes it apart.
std::optional<int64_t> SurvivingAxis(const Shape& from, const Shape& to,
                                     int64_t axis);

// begin and end of every dimension of a Pad (2 * rank numbers), nullopt if
// they are not constant.
std::optional<std::vector<int64_t>> PadsOf(const OperandView& view);

}  // namespace fold

#endif  // FOLD_COMPILER_OPS_MOVEMENT_H_
