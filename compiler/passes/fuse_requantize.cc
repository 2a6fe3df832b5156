// A QuantizeLinear behind an integer op is the quantization of that op's
// result: its scale and zero point move into the result's type.
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

bool Fuse(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node quantize = graph.node(id);
  const NodeId producer = graph.value(quantize.operands[0]).producer;
  Node head = graph.node(producer);
  const ValueId old = quantize.results[0];
  const TensorType type = graph.value(old).type;
  const std::string name = graph.value(old).name;
  const ValueId result = rewriter.Declare(name, type);
  head.results = {result};
  head.provenance.Merge(quantize.provenance);
  Proposal proposal;
  proposal.removed = {producer, id};
  proposal.added = {head};
  proposal.sheet.rule = "fuse_requantize";
  proposal.sheet.results = {{old, result}};
  SayParametersAbsorbed(proposal.sheet, graph, quantize, result);
  SayNamesLost(proposal, graph);
  return rewriter.Apply(std::move(proposal));
}

}  // namespace

bool fuse_requantize(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Graph& graph = rewriter.graph();
    const Node& node = graph.node(id);
    if (node.erased || OpOf(node) != Op::kQuantizeLinear) continue;
    const Node* head = ProducerOf(graph, node.operands[0]);
    if (!head || !IsIntegerOp(graph, *head)) continue;
    if (!graph.HasSingleUse(node.operands[0])) {
      rewriter.Refuse("fuse_requantize", id,
                      "the value before it, '" +
                          graph.value(node.operands[0]).name +
                          "', has other users");
      continue;
    }
    changed |= Fuse(rewriter, id);
  }
  return changed;
}

}  // namespace fold::passes
