// Min and Max with one constant number are the halves of a Clip.
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

constexpr char kRule[] = "clip_from_min_max";

bool Replace(Rewriter& rewriter, NodeId id, size_t data) {
  const Graph& graph = rewriter.graph();
  const Node node = graph.node(id);
  const Value old = graph.value(node.results[0]);
  Node clip = node;
  clip.op = ToId(Op::kClip);
  clip.operands = {node.operands[data]};
  const ValueId bound = node.operands[1 - data];
  if (OpOf(node) == Op::kMin) clip.operands.emplace_back();
  clip.operands.push_back(bound);
  const ValueId to = rewriter.Declare(old.name, old.type);
  clip.results = {to};
  Proposal proposal;
  proposal.removed = {id};
  proposal.added = {clip};
  proposal.sheet.rule = kRule;
  proposal.sheet.results = {{node.results[0], to}};
  return rewriter.Apply(std::move(proposal));
}

}  // namespace

bool clip_from_min_max(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Graph& graph = rewriter.graph();
    const Node& node = graph.node(id);
    if ((OpOf(node) != Op::kMin && OpOf(node) != Op::kMax) ||
        node.operands.size() != 2) {
      continue;
    }
    const size_t data = graph.IsConstant(node.operands[0]) ? 1 : 0;
    const ValueId bound = node.operands[1 - data];
    if (!graph.IsConstant(bound) || graph.IsConstant(node.operands[data])) {
      rewriter.Refuse(kRule, id, "neither operand is one constant");
      continue;
    }
    const TensorType& type = graph.value(node.operands[data]).type;
    if (graph.value(bound).constant->size() != 1 ||
        type.shape != graph.value(node.results[0]).type.shape) {
      rewriter.Refuse(kRule, id, "its constant is more than one number");
      continue;
    }
    changed |= Replace(rewriter, id, data);
  }
  return changed;
}

}  // namespace fold::passes
