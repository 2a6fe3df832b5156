// A node whose operands are all constant becomes its value, where that can be
// had without rounding. DequantizeLinear stays: its integers and their scale
// are what folding needs. Codes that are quantized again become the new codes.
#include "compiler/annotate/annotate.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

// The real numbers of constant codes; null for others.
TensorPtr Dequantized(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const TensorPtr codes = ConstantOf(graph, node.operands[0]);
  Diagnostics ignored;  // annotate has reported the faults
  const auto encoding = EncodingOf(graph, id, &ignored);
  if (!codes || !encoding || encoding->block > 0 ||
      ElementSize(codes->type) > 2) {
    return nullptr;
  }
  return MakeRealTensor(ElementType::f64, codes->shape,
                        RealNumbersOf(*codes, *encoding));
}

// QuantizeLinear of constant codes: the codes that they become.
TensorPtr Requantized(const Graph& graph, const Node& node) {
  const ValueId input = node.operands[0];
  if (!ProducerOf(graph, input, Op::kDequantizeLinear)) return nullptr;
  std::vector<TensorType> types;
  std::vector<TensorPtr> constants = {
      Dequantized(graph, graph.value(input).producer)};
  for (ValueId id : node.operands) {
    types.push_back(id.valid() ? graph.value(id).type : TensorType());
    if (id != input) constants.push_back(ConstantOf(graph, id));
  }
  if (!constants[0] || !constants[1]) return nullptr;
  return SpecOf(Op::kQuantizeLinear).evaluate({node, types, constants});
}

TensorPtr Evaluate(const Graph& graph, const Node& node) {
  TensorPtr value = EvaluateNode(graph, node);
  if (value || OpOf(node) != Op::kQuantizeLinear) return value;
  return Requantized(graph, node);
}

bool Fold(Rewriter& rewriter, NodeId id, TensorPtr value) {
  const Graph& graph = rewriter.graph();
  const Node& node = graph.node(id);
  const ValueId result = node.results[0];
  TensorType type = graph.value(result).type;
  type.element = value->type;
  type.shape = value->shape;
  Proposal proposal;
  proposal.removed = {id};
  const ValueId constant =
      rewriter.Declare(graph.value(result).name, type, std::move(value));
  MigrationSheet& sheet = proposal.sheet;
  sheet.rule = "fold_constants";
  sheet.results = {{result, constant}};
  for (ValueId operand : graph.node(id).operands) {
    if (graph.IsConstant(operand)) {
      SayEvaluated(sheet, operand, constant, graph.node(id));
      const auto& encoding = graph.value(operand).type.encoding;
      if (encoding && type.encoding) {
        sheet.encodings.push_back({operand, constant,
                                   EncodingMove::Destination::kType,
                                   encoding->axis, type.encoding->axis});
      }
    }
  }
  return rewriter.Apply(std::move(proposal));
}

}  // namespace

bool fold_constants(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    TensorPtr value = Evaluate(rewriter.graph(), rewriter.graph().node(id));
    if (value) changed |= Fold(rewriter, id, std::move(value));
  }
  return changed;
}

}  // namespace fold::passes
