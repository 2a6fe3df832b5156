// A constant that is read with two quantizations becomes one for each: every
// DequantizeLinear reads codes whose type says what it says, so that what
// becomes of one reader leaves the others alone. Equal bytes are stored once.
#include "compiler/annotate/annotate.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

constexpr char kRule[] = "split_constants";

bool Split(Rewriter& rewriter, NodeId id, const Encoding& encoding) {
  const Graph& graph = rewriter.graph();
  Node node = graph.node(id);
  const ValueId codes = node.operands[0];
  const Value value = graph.value(codes);
  TensorType type = value.type;
  type.encoding = encoding;
  const ValueId clone =
      rewriter.Declare(value.name + "_split", type, value.constant);
  const Value old = graph.value(node.results[0]);
  const ValueId result = rewriter.Declare(old.name, old.type);
  Proposal proposal;
  proposal.removed = {id};
  proposal.sheet.rule = kRule;
  proposal.sheet.results = {{node.results[0], result}};
  proposal.sheet.constants = {{codes, clone, ConstantMove::Kind::kCloned}};
  node.operands[0] = clone;
  node.results = {result};
  proposal.added = {node};
  return rewriter.Apply(std::move(proposal));
}

}  // namespace

bool split_constants(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Graph& graph = rewriter.graph();
    const Node& node = graph.node(id);
    if (OpOf(node) != Op::kDequantizeLinear ||
        !graph.IsConstant(node.operands[0])) {
      continue;
    }
    Diagnostics ignored;  // annotate has reported the faults
    auto encoding = EncodingOf(graph, id, &ignored);
    const auto& bound = graph.value(node.operands[0]).type.encoding;
    if (!encoding || !bound) continue;
    // The range of the codes and their rounding are no matter of a reader.
    encoding->code_low = bound->code_low;
    encoding->code_high = bound->code_high;
    encoding->rounding = bound->rounding;
    if (*encoding == *bound) continue;
    // With one reader there is nothing to split: its word is the only one.
    if (graph.HasSingleUse(node.operands[0])) {
      rewriter.Refuse(kRule, id,
                      "nobody else reads the constant, and it says another "
                      "quantization than is bound to it");
      continue;
    }
    changed |= Split(rewriter, id, *encoding);
  }
  return changed;
}

}  // namespace fold::passes
