// Relu, Clip and constant arithmetic behind an integer op become its steps, and
// so clamps of its codes.
#include "compiler/passes/affine_tail.h"
#include "compiler/passes/dequantized.h"
#include "compiler/passes/pass.h"

namespace fold::passes {

bool fuse_activation(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Graph& graph = rewriter.graph();
    const Node& node = graph.node(id);
    if (node.erased || TailKind(graph, node) == Tail::kNone) continue;
    const Node* head = ProducerOf(graph, TailInput(graph, node));
    if (!head || !IsIntegerOp(graph, *head)) continue;
    // A clamp of a number that is never quantized has no code to become.
    if (!EndsInQuantize(graph, node.results[0])) continue;
    changed |= AbsorbTail(rewriter, id, "fuse_activation");
  }
  return changed;
}

}  // namespace fold::passes
