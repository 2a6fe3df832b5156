// QuantizeLinear -> Clip on the codes (quantization below 8 bits, written with
// an 8-bit type) is one quantization with a narrower range of codes.
#include <algorithm>

#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

struct Bounds {
  int64_t low, high;
};

// Constant bounds of a Clip on `type`; an absent bound is the type's own.
std::optional<Bounds> BoundsOf(const Graph& graph, const Node& clip,
                               ElementType type) {
  Bounds bounds = {LowestCode(type), HighestCode(type)};
  const ValueId low = OperandAt(clip, 1), high = OperandAt(clip, 2);
  if ((low.valid() && !graph.IsConstant(low)) ||
      (high.valid() && !graph.IsConstant(high))) {
    return std::nullopt;
  }
  if (low.valid()) bounds.low = graph.value(low).constant->integer(0);
  if (high.valid()) bounds.high = graph.value(high).constant->integer(0);
  if (bounds.low > bounds.high) return std::nullopt;
  return bounds;
}

bool Fold(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node& clip = graph.node(id);
  const Node& quantize = *ProducerOf(graph, clip.operands[0]);
  const NodeId producer = graph.value(clip.operands[0]).producer;
  TensorType type = graph.value(quantize.results[0]).type;
  const auto bounds = BoundsOf(graph, clip, type.element);
  if (!bounds) return false;
  const bool whole = bounds->low <= LowestCode(type.element) &&
                     bounds->high >= HighestCode(type.element);
  if (!whole) {
    Encoding& e = *type.encoding;
    e.code_low = std::max(bounds->low, e.code_low.value_or(bounds->low));
    e.code_high = std::min(bounds->high, e.code_high.value_or(bounds->high));
  }
  Proposal proposal;
  proposal.removed = {producer, id};
  Node merged = quantize;
  merged.provenance.Merge(clip.provenance);
  const ValueId low = OperandAt(clip, 1), high = OperandAt(clip, 2);
  const ValueId old_codes = quantize.results[0], result = clip.results[0];
  const ValueId to = rewriter.Declare(graph.value(result).name, type);
  merged.results = {to};
  proposal.added = {merged};
  MigrationSheet& sheet = proposal.sheet;
  sheet.rule = "fold_code_clip";
  sheet.results = {{result, to}};
  sheet.encodings = {{old_codes, to, EncodingMove::Destination::kType,
                      type.encoding->axis, type.encoding->axis}};
  for (const auto& [bound, slot] : {std::pair(low, Slot::Kind::kCodeLow),
                                    std::pair(high, Slot::Kind::kCodeHigh)}) {
    SayAbsorbed(sheet, graph, bound, to, {slot});
    if (!bound.valid() || !whole) continue;
    sheet.constants.back().kind = ConstantMove::Kind::kUnneeded;
    sheet.constants.back().why = Unneeded::kWholeRange;
  }
  SayNamesLost(proposal, graph);
  return rewriter.Apply(std::move(proposal));
}

}  // namespace

bool fold_code_clip(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Graph& graph = rewriter.graph();
    const Node& node = graph.node(id);
    if (OpOf(node) != Op::kClip) continue;
    if (!ProducerOf(graph, node.operands[0], Op::kQuantizeLinear)) continue;
    if (!graph.HasSingleUse(node.operands[0])) {
      rewriter.Refuse("fold_code_clip", id,
                      "the codes before the Clip have other users");
      continue;
    }
    changed |= Fold(rewriter, id);
  }
  return changed;
}

}  // namespace fold::passes
