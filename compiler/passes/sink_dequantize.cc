#include "compiler/passes/sink_dequantize.h"

#include <algorithm>

#include "compiler/ops/movement.h"
#include "compiler/passes/dequantized.h"

namespace fold {
namespace {

bool PadsWithZero(const Graph& graph, const Node& pad) {
  if (pad.attribute<std::string>("mode", "constant") != "constant") {
    return true;  // edge and reflect only move elements
  }
  const ValueId value = OperandAt(pad, 2);
  if (!value.valid()) return pad.attribute<double>("value", 0.0) == 0.0;
  return graph.IsConstant(value) && graph.value(value).constant->real(0) == 0;
}

// Number of leading operands that are data.
size_t DataOperands(const Node& node) {
  return OpOf(node) == Op::kConcat ? node.operands.size() : 1;
}

// Where dimension `axis` of what `node` moves is in its result.
std::optional<int64_t> AxisBehind(const Graph& graph, const Node& node,
                                  int64_t axis) {
  const Shape& from = graph.value(node.operands[0]).type.shape;
  switch (OpOf(node)) {
    case Op::kTranspose: {
      const auto perm = PermutationOf(node, from.size());
      if (!perm) return std::nullopt;
      return std::find(perm->begin(), perm->end(), axis) - perm->begin();
    }
    case Op::kReshape:
    case Op::kFlatten:
    case Op::kSqueeze:
    case Op::kUnsqueeze:
      return SurvivingAxis(from, graph.value(node.results[0]).type.shape, axis);
    default:
      return std::nullopt;
  }
}

// The encoding behind `node`: equal in front of it but for a moved axis.
std::optional<Encoding> EncodingBehind(const Graph& graph, const Node& node) {
  auto first = IntegerRewrite::EncodingOfReal(graph, node.operands[0]);
  if (!first) return std::nullopt;
  for (size_t i = 1; i < DataOperands(node); ++i) {
    const auto other = IntegerRewrite::EncodingOfReal(graph, node.operands[i]);
    if (!other || !(*other == *first)) return std::nullopt;
  }
  if (first->per_tensor()) return first;
  const auto axis = AxisBehind(graph, node, first->axis);
  if (!axis || first->block > 0) return std::nullopt;
  Encoding moved = *first;
  moved.axis = static_cast<int>(*axis);
  return moved;
}

// The same codes type in every operand.
bool SameCodes(const Graph& graph, const Node& node) {
  const auto type = [&](size_t i) {
    const ValueId codes = ProducerOf(graph, node.operands[i])->operands[0];
    return graph.value(codes).type.element;
  };
  for (size_t i = 1; i < DataOperands(node); ++i) {
    if (type(i) != type(0)) return false;
  }
  return true;
}

// The pad value of a Pad of codes: a constant with the zero point.
ValueId ZeroCode(Rewriter& rewriter, const TensorType& type) {
  const TensorPtr zero =
      MakeIntegerTensor(type.element, {}, {type.encoding->zero_points[0]});
  return rewriter.Declare("zero_code", {type.element, {}, std::nullopt}, zero);
}

}  // namespace

std::string SinkFault(const Graph& graph, const Node& node) {
  if (node.operands.empty() || !MovesElements(OpOf(node))) return "";
  const auto encoding = IntegerRewrite::EncodingOfReal(graph, node.operands[0]);
  if (!encoding || CanSinkDequantize(graph, node)) return "";
  return "the axis of the quantization does not survive it";
}

bool CanSinkDequantize(const Graph& graph, const Node& node) {
  const Op op = OpOf(node);
  if (op == Op::kPad) {
    if (!PadsWithZero(graph, node)) return false;
  } else if (!MovesElements(op) && op != Op::kConcat) {
    return false;
  }
  return node.results.size() == 1 && EncodingBehind(graph, node).has_value() &&
         SameCodes(graph, node);
}

bool SinkDequantize(Rewriter& rewriter, NodeId id, const std::string& rule) {
  const Graph& graph = rewriter.graph();
  const Node node = graph.node(id);
  const Node dequantize = *ProducerOf(graph, node.operands[0]);
  const Encoding encoding = *EncodingBehind(graph, node);
  IntegerRewrite rewrite(rewriter, id, rule);
  std::vector<ValueId> operands = node.operands;
  for (size_t i = 0; i < DataOperands(node); ++i) {
    const auto codes = rewrite.Codes(node.operands[i]);
    if (!codes) {
      rewriter.Refuse(rule, id, "an operand is read with two quantizations");
      return false;
    }
    operands[i] = *codes;
  }
  TensorType type = graph.value(operands[0]).type;
  type.shape = graph.value(node.results[0]).type.shape;
  const auto [low, high] =
      std::pair(type.encoding->code_low, type.encoding->code_high);
  const Rounding rounding = type.encoding->rounding;
  type.encoding = encoding;
  type.encoding->rounding = rounding;
  if (DataOperands(node) == 1) {
    type.encoding->code_low = low;
    type.encoding->code_high = high;
  }
  if (OpOf(node) == Op::kPad) {  // the zero point comes among the codes
    Encoding& e = *type.encoding;
    if (e.code_low) e.code_low = std::min(*e.code_low, e.zero_points[0]);
    if (e.code_high) e.code_high = std::max(*e.code_high, e.zero_points[0]);
  }
  const Value old = graph.value(node.results[0]);
  TensorPtr folded;
  if (graph.IsConstant(operands[0]) && SpecOf(OpOf(node)).evaluate) {
    Node moved = node;
    moved.operands = operands;
    const NodeView view(graph, moved);
    folded = SpecOf(OpOf(node)).evaluate(view.view());
  }
  const ValueId codes = rewriter.Declare(old.name + "_codes", type, folded);
  const ValueId result = rewriter.Declare(old.name, old.type);
  Node mover = rewrite.Successor(OpOf(node));
  if (OpOf(node) == Op::kPad) {
    if (operands.size() < 3) operands.resize(3);
    const ValueId number = operands[2];
    operands[2] = ZeroCode(rewriter, type);
    const std::vector<Derivation> how = {
        {Derivation::Kind::kReshaped},
        {Derivation::Kind::kQuantized, {}, codes}};
    if (number.valid()) {
      SayTransformed(rewrite.sheet(), number, operands[2], how);
    } else {
      SayMade(rewrite.sheet(), operands[2], 0, how);
    }
    mover.attributes.erase("value");
  }
  mover.operands = operands;
  mover.results = {codes};
  if (folded) {
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i].valid() || !graph.IsConstant(operands[i])) continue;
      SayEvaluated(rewrite.sheet(), operands[i], codes, mover);
      const auto& from = graph.value(operands[i]).type.encoding;
      if (from) {
        rewrite.sheet().encodings.push_back({operands[i], codes,
                                             EncodingMove::Destination::kType,
                                             from->axis, encoding.axis});
      }
    }
  } else {
    rewrite.Add(mover);
  }
  Node behind;
  behind.op = ToId(Op::kDequantizeLinear);
  behind.name = dequantize.name;
  behind.attributes = dequantize.attributes;
  if (encoding.axis >= 0) {
    behind.attributes["axis"] = static_cast<int64_t>(encoding.axis);
  }
  behind.operands = dequantize.operands;
  behind.operands[0] = codes;
  behind.results = {result};
  rewrite.Add(behind);
  return rewrite.Apply(result);
}

}  // namespace fold
