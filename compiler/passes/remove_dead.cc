// Nodes that no output needs.
#include <vector>

#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

std::vector<bool> NeededValues(const Graph& graph) {
  std::vector<bool> needed(graph.value_count());
  for (ValueId id : graph.outputs) needed[id.index] = true;
  for (auto at = graph.order().rbegin(); at != graph.order().rend(); ++at) {
    const Node& node = graph.node(*at);
    bool used = false;
    for (ValueId id : node.results) used |= id.valid() && needed[id.index];
    if (!used) continue;
    for (ValueId id : node.operands) {
      if (id.valid()) needed[id.index] = true;
    }
  }
  return needed;
}

}  // namespace

bool remove_dead(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<bool> needed = NeededValues(rewriter.graph());
  std::vector<NodeId> order = rewriter.graph().order();
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const Node& node = rewriter.graph().node(*at);
    bool used = false;
    for (ValueId id : node.results) used |= id.valid() && needed[id.index];
    if (used) continue;
    Proposal proposal;
    proposal.removed = {*at};
    proposal.sheet.rule = "remove_dead";
    for (ValueId id : node.operands) {
      if (id.valid()) SayDead(proposal.sheet, rewriter.graph(), id);
    }
    for (ValueId id : node.results) {
      if (id.valid()) SayDead(proposal.sheet, rewriter.graph(), id);
    }
    SayNamesLost(proposal, rewriter.graph());
    changed |= rewriter.Apply(std::move(proposal));
  }
  return changed;
}

}  // namespace fold::passes
