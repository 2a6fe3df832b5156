// A node whose operands are all constant becomes its value, where that can be
// had without rounding. DequantizeLinear stays: its integers and their scale
// are what folding needs.
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

bool Fold(Rewriter& rewriter, NodeId id, TensorPtr value) {
  const Graph& graph = rewriter.graph();
  const Node& node = graph.node(id);
  const ValueId result = node.results[0];
  TensorType type = graph.value(result).type;
  type.element = value->type;
  type.shape = value->shape;
  Proposal proposal;
  proposal.removed = {id};
  const ValueId constant = rewriter.Declare(graph.value(result).name, type,
                                            std::move(value));
  MigrationSheet& sheet = proposal.sheet;
  sheet.rule = "fold_constants";
  sheet.results = {{result, constant}};
  for (ValueId operand : graph.node(id).operands) {
    if (graph.IsConstant(operand)) {
      SayTransformed(sheet, operand, constant);
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

bool fold_constants(Rewriter& rewriter, Diagnostics*) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    TensorPtr value =
        EvaluateNode(rewriter.graph(), rewriter.graph().node(id));
    if (value) changed |= Fold(rewriter, id, std::move(value));
  }
  return changed;
}

}  // namespace fold::passes
