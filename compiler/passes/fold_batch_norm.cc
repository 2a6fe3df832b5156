// Conv -> BatchNormalization, and Conv -> Div -> BatchNormalization as
// PyTorch's QAT writes it: the arithmetic on the result of a linear op becomes
// a step of that op. Weights stay as they were trained: the numbers go into the
// requantization (Jacob et al. 2018, section 3.2, without the re-quantization
// of folded weights).
#include "compiler/passes/affine_tail.h"
#include "compiler/passes/pass.h"

namespace fold::passes {
namespace {

// MatMul and Gemm of something that is not constant are linear in neither
// operand alone, and still may have their result scaled.
bool HasLinearHead(const Graph& graph, const Node& node) {
  const Node* head = ProducerOf(graph, TailInput(graph, node));
  return head && IsLinear(OpOf(*head));
}

}  // namespace

bool fold_batch_norm(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Node& node = rewriter.graph().node(id);
    if (node.erased) continue;
    const Tail kind = TailKind(rewriter.graph(), node);
    if (kind != Tail::kBatchNorm && kind != Tail::kScale) continue;
    if (!HasLinearHead(rewriter.graph(), node)) continue;
    changed |= AbsorbTail(rewriter, id, "fold_batch_norm");
  }
  return changed;
}

}  // namespace fold::passes
