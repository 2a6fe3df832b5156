// Nodes that give what they get: Identity, Cast to the type that it has
// already or to a wider float type, Concat of one value.
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

// Every number of `from` is one of `to`.
bool IsWiderFloat(ElementType from, ElementType to) {
  return IsFloat(from) && IsFloat(to) && ElementSize(from) < ElementSize(to);
}

bool GivesWhatItGets(const Graph& graph, const Node& node) {
  const Op op = OpOf(node);
  const TensorType& from = graph.value(node.operands[0]).type;
  const TensorType& to = graph.value(node.results[0]).type;
  if (from.shape != to.shape) return false;
  if (op == Op::kCast && IsWiderFloat(from.element, to.element)) {
    return !graph.IsOutput(node.results[0]);
  }
  if (from.element != to.element) return false;
  return op == Op::kIdentity || op == Op::kCast ||
         (op == Op::kConcat && node.operands.size() == 1);
}

}  // namespace

bool remove_identities(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Node& node = rewriter.graph().node(id);
    if (node.operands.empty() || node.results.size() != 1 ||
        !GivesWhatItGets(rewriter.graph(), node)) {
      continue;
    }
    // An output keeps its producer of its own where it would become an input.
    const ValueId from = node.operands[0];
    Proposal proposal;
    proposal.removed = {id};
    proposal.sheet.rule = "remove_identities";
    proposal.sheet.results = {{node.results[0], from}};
    if (rewriter.graph().IsConstant(from)) {
      proposal.sheet.constants = {{from, from, ConstantMove::Kind::kMoved}};
    }
    changed |= rewriter.Apply(std::move(proposal));
  }
  return changed;
}

}  // namespace fold::passes
