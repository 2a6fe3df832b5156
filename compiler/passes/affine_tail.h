// Absorbing what follows a linear or integer op into its steps: constant Mul,
// Div, Add, Sub, BatchNormalization, Relu and Clip. All of them are arithmetic
// on real numbers between a DequantizeLinear and the next QuantizeLinear, so
// putting them into the op's steps changes no number (docs/numerics.md).
#ifndef FOLD_COMPILER_PASSES_AFFINE_TAIL_H_
#define FOLD_COMPILER_PASSES_AFFINE_TAIL_H_

#include <string>

#include "compiler/passes/pattern.h"

namespace fold {

enum class Tail { kNone, kScale, kBatchNorm, kActivation };

// What kind of tail `node` is: its one data operand is real, the others are
// constant and vary along the channels of the op that it would go to at the
// most.
Tail TailKind(const Graph& graph, const Node& node);

// The data operand of a tail node.
ValueId TailInput(const Graph& graph, const Node& node);

// Makes node `tail` a step of the op that makes its input. Refused, with the
// reason recorded, if that op has other users or a constant varies otherwise.
bool AbsorbTail(Rewriter& rewriter, NodeId tail, const std::string& rule);

}  // namespace fold

#endif  // FOLD_COMPILER_PASSES_AFFINE_TAIL_H_
