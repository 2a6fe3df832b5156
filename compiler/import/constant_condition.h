// What the small integer nodes that lead to an If's condition compute: enough
// to decide which branch an exporter meant ("is this dimension 1?"), nothing
// that a network computes with.
#ifndef FOLD_COMPILER_IMPORT_CONSTANT_CONDITION_H_
#define FOLD_COMPILER_IMPORT_CONSTANT_CONDITION_H_

#include <cstdint>
#include <vector>

#include "compiler/ir/type.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// Elements of the largest operand or result.
constexpr int64_t kLargestCondition = 64;

// An initializer or a Constant's value; null if it is not a tensor of integers
// or booleans, is larger than the limit, or its data is elsewhere or damaged.
TensorPtr SmallTensor(const onnx::TensorProto& tensor);

// The one result of `node`, whose operands have these values; null if an
// operand is absent, or if it is no operator of this kind: Constant, Identity,
// Cast, Not, And, Or, Xor, Equal, Greater(OrEqual), Less(OrEqual), Add, Sub,
// Mul, Gather, Concat, Squeeze, Unsqueeze, Reshape, on scalars and vectors.
// For Shape and Size the operand is the shape of their own operand.
TensorPtr EvaluateSmall(const onnx::NodeProto& node,
                        const std::vector<TensorPtr>& operands);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_CONSTANT_CONDITION_H_
