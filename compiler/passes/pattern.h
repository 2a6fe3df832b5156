// What passes look for, and the sheets they fill in: small questions about a
// graph that several passes ask.
#ifndef FOLD_COMPILER_PASSES_PATTERN_H_
#define FOLD_COMPILER_PASSES_PATTERN_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/rewriter.h"
#include "compiler/ops/op_spec.h"

namespace fold {

// The node that makes `id`, null for inputs and constants.
const Node* ProducerOf(const Graph& graph, ValueId id);
// The node that makes `id` if it is `op`, else null.
const Node* ProducerOf(const Graph& graph, ValueId id, Op op);
inline ValueId OperandAt(const Node& node, size_t at) {
  return at < node.operands.size() ? node.operands[at] : ValueId();
}

// Operators whose integer form computes a real number from integers, applies
// steps to it and quantizes it to the result's type.
bool TakesSteps(Op op);
// Add, Sub, Mul, Div.
bool IsPair(Op op);
// A node of such an operator whose data operands are quantized integers; one of
// a pair may be a constant of any kind. Its result is integer, or f32: the real
// number before any quantization.
bool IsIntegerOp(const Graph& graph, const Node& node);
// Operators that move or select elements and keep their numbers.
bool MovesElements(Op op);

// The dimension of the result that a per-channel constant runs along: 1, or
// the last one for Gemm and MatMul.
int64_t ChannelAxis(const Node& node, const Shape& result);

// `constant`, which broadcasts against `shape`, as one number or as one per
// index of `axis`, in the order of that axis; nullopt if it varies otherwise.
std::optional<std::vector<double>> AsChannelVector(const Tensor& constant,
                                                   const Shape& shape,
                                                   int64_t axis);

// No element is an infinity or NaN.
bool IsFinite(const Tensor& constant);
// The different numbers of a constant, ascending; with an encoding, those that
// its codes stand for. Requires IsFinite(constant).
std::vector<double> DistinctNumbers(const Tensor& constant,
                                    const std::optional<Encoding>& encoding);

// Operators with a weight matrix: Conv, Gemm, MatMul.
bool IsLinear(Op op);

// `numbers` as f32 where that loses nothing, else as f64.
TensorPtr NarrowestReals(Shape shape, const std::vector<double>& numbers);

// Real-valued float types: what arithmetic between DQ and Q works on.
bool IsReal(const TensorType& type);

// What a sheet says. Constants that new nodes read as they are need no word.
//
// The numbers of `constant`, if it is one, are in `slot` of `into`.
void SayAbsorbed(MigrationSheet& sheet, const Graph& graph, ValueId constant,
                 ValueId into, Slot slot);
// The scale and the zero point of a QuantizeLinear or DequantizeLinear are in
// the encoding of `into`.
void SayParametersAbsorbed(MigrationSheet& sheet, const Graph& graph,
                           const Node& conversion, ValueId into);
// `to` is `from` taken through `how`.
void SayTransformed(MigrationSheet& sheet, ValueId from, ValueId to,
                    std::vector<Derivation> how);
// `to` is `node` evaluated, which reads `from`.
void SayEvaluated(MigrationSheet& sheet, ValueId from, ValueId to,
                  const Node& node);
// `to` is a new constant: `number` taken through `how`.
void SayMade(MigrationSheet& sheet, ValueId to, double number,
             std::vector<Derivation> how = {});
// `to` is a new constant: what `slot` of `of` says.
void SayMadeOf(MigrationSheet& sheet, ValueId to, Slot slot, ValueId of);
// No output depends on the removed nodes: nothing has to become of `id`.
void SayDead(MigrationSheet& sheet, const Graph& graph, ValueId id);
// Results of removed nodes that have no destination lose their names.
void SayNamesLost(Proposal& proposal, const Graph& graph);

}  // namespace fold

#endif  // FOLD_COMPILER_PASSES_PATTERN_H_
