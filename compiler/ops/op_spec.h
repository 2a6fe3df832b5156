// The columns of an operator's row that are more than a name (ops.def).
#ifndef FOLD_COMPILER_OPS_OP_SPEC_H_
#define FOLD_COMPILER_OPS_OP_SPEC_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/ops/ops.h"

namespace fold {

// What becomes of the encoding of operand 0 in result 0.
enum class EncodingRule : uint8_t {
  kFixing,      // the result's encoding is its own
  kPreserving,  // the same codes mean the same numbers
  kPermuting,   // preserved, the axis follows the data
  kNone,        // operands and result carry no quantization
};

// A node with the constants of its operands, for evaluation and inference.
struct OperandView {
  const Node& node;
  std::span<const TensorType> types;     // undefined element: absent
  std::span<const TensorPtr> constants;  // null: absent or not constant
};

struct OpSpec {
  // Attributes that the operator may have, comma-separated, with the ONNX
  // names. "opset" (the operator set that the node was written for) is always
  // allowed.
  std::string_view attributes;
  EncodingRule encoding;
  // Shape of result 0 from the operands; nullopt with `*fault` set if they do
  // not fit. Null: the shape depends on values that only the importer knows.
  std::optional<Shape> (*infer)(const OperandView& view, std::string* fault);
  // The result as a constant where all operands are, exactly; nullptr where
  // that cannot be had. Null: the operator is never evaluated.
  TensorPtr (*evaluate)(const OperandView& view);
  // Result 0 may lie where operand 0 lay.
  bool in_place;
};

const OpSpec& SpecOf(Op op);

// View of a node of a graph, owning its vectors.
class NodeView {
 public:
  NodeView(const Graph& graph, const Node& node);
  OperandView view() const { return {node_, types_, constants_}; }

 private:
  const Node& node_;
  std::vector<TensorType> types_;
  std::vector<TensorPtr> constants_;
};

// The result of a node whose operands are all constants themselves; null if
// they are not, or if it cannot be evaluated exactly.
TensorPtr EvaluateNode(const Graph& graph, const Node& node);

// The constant that `id` is or evaluates to through at most 200 nodes in a
// row; null if it depends on an input or cannot be evaluated exactly. Nothing
// is changed.
TensorPtr ConstantOf(const Graph& graph, ValueId id);

// The real numbers of a DequantizeLinear of constant codes of at most 16 bits,
// as f64, exactly; null for others and for blocked parameters.
TensorPtr DequantizedNumbers(const Graph& graph, const Node& dequantize);

}  // namespace fold

#endif  // FOLD_COMPILER_OPS_OP_SPEC_H_
