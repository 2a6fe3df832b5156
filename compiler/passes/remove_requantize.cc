// A requantization that changes nothing: equal quantizations, or a range of
// codes that holds every code that can come.
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

// codes (from) are all within codes (to), and a code means the same number.
bool ChangesNothing(const TensorType& from, const TensorType& to) {
  if (from.element != to.element || !from.encoding || !to.encoding) {
    return false;
  }
  const Encoding &a = *from.encoding, &b = *to.encoding;
  const int64_t low = LowestCode(from.element),
                high = HighestCode(from.element);
  return a.scales == b.scales && a.zero_points == b.zero_points &&
         a.axis == b.axis && a.block == b.block &&
         a.code_low.value_or(low) >= b.code_low.value_or(low) &&
         a.code_high.value_or(high) <= b.code_high.value_or(high);
}

}  // namespace

bool remove_requantize(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Graph& graph = rewriter.graph();
    const Node& node = graph.node(id);
    if (OpOf(node) != Op::kRequantize || !node.steps.empty()) continue;
    const ValueId from = node.operands[0], result = node.results[0];
    if (!ChangesNothing(graph.value(from).type, graph.value(result).type)) {
      continue;
    }
    Proposal proposal;
    proposal.removed = {id};
    proposal.sheet.rule = "remove_requantize";
    proposal.sheet.results = {{result, from}};
    changed |= rewriter.Apply(std::move(proposal));
  }
  return changed;
}

}  // namespace fold::passes
