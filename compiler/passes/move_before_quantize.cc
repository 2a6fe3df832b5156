// Data movement ahead of a QuantizeLinear goes behind it, and so do Relu and
// Clip ahead of the first one: quantization is monotone and works element by
// element, so Q(move(x)) = move(Q(x)) and Q(clip(x)) = clamp of codes(Q(x)). A
// Pad with a number is a movement that also pads with that number's code.
#include <algorithm>
#include <cmath>

#include "compiler/ops/exact_rounding.h"
#include "compiler/ops/movement.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

// The code of a bound; an infinite bound is the end of the type's range.
int64_t CodeOf(double bound, const TensorType& type) {
  const int64_t low = LowestCode(type.element),
                high = HighestCode(type.element);
  if (std::isinf(bound)) return bound < 0 ? low : high;
  const Encoding& e = *type.encoding;
  return std::clamp(
      DivideAndRound(bound, e.scales[0], e.rounding) + e.zero_points[0], low,
      high);
}

// The number that a Pad pads with, nullopt if it is computed or if the Pad
// repeats elements instead.
std::optional<double> PadNumber(const Graph& graph, const Node& pad) {
  if (pad.attribute<std::string>("mode", "constant") != "constant") {
    return std::nullopt;
  }
  const ValueId value = OperandAt(pad, 2);
  if (!value.valid()) return pad.attribute<double>("value", 0.0);
  if (!graph.IsConstant(value)) return std::nullopt;
  return graph.value(value).constant->real(0);
}

// Makes the Pad `mover` of numbers one of codes, those of `quantized`.
void PadWithCode(Rewriter& rewriter, ValueId quantized, Node& mover,
                 MigrationSheet& sheet) {
  const Graph& graph = rewriter.graph();
  const TensorType type = graph.value(quantized).type;
  const Encoding& e = *type.encoding;
  const double number = *PadNumber(graph, mover);
  const int64_t code =
      std::clamp(CodeOf(number, type), e.code_low.value_or(INT64_MIN),
                 e.code_high.value_or(INT64_MAX));
  const TensorPtr constant = MakeIntegerTensor(type.element, {}, {code});
  if (mover.operands.size() < 3) mover.operands.resize(3);
  const ValueId old = mover.operands[2];
  mover.operands[2] =
      rewriter.Declare("pad_code", {type.element, {}, std::nullopt}, constant);
  const std::vector<Derivation> how = {
      {Derivation::Kind::kReshaped},
      {Derivation::Kind::kQuantized, {}, quantized}};
  if (old.valid()) {
    SayTransformed(sheet, old, mover.operands[2], how);
  } else {
    SayMade(sheet, mover.operands[2], number, how);
  }
  mover.attributes.erase("value");
}

// Where dimension `axis` of what `mover` gives was in what it got.
std::optional<int64_t> AxisBefore(const Graph& graph, const Node& mover,
                                  int64_t axis) {
  const Shape& from = graph.value(mover.operands[0]).type.shape;
  const Shape& to = graph.value(mover.results[0]).type.shape;
  switch (OpOf(mover)) {
    case Op::kTranspose: {
      const auto perm = PermutationOf(mover, from.size());
      return perm ? std::optional((*perm)[axis]) : std::nullopt;
    }
    case Op::kReshape:
    case Op::kFlatten:
    case Op::kSqueeze:
    case Op::kUnsqueeze:
      return SurvivingAxis(to, from, axis);
    default:
      return std::nullopt;
  }
}

bool MoveMovement(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  Node quantize = graph.node(id);
  const NodeId mover_id = graph.value(quantize.operands[0]).producer;
  Node mover = graph.node(mover_id);
  const ValueId old = quantize.results[0];
  const TensorType type = graph.value(old).type;
  const std::string name = graph.value(old).name;
  TensorType inner = type;
  inner.shape = graph.value(mover.operands[0]).type.shape;
  if (!type.encoding->per_tensor()) {
    const auto axis = AxisBefore(graph, mover, type.encoding->axis);
    if (!axis || type.encoding->block > 0) {
      rewriter.Refuse("move_before_quantize", id,
                      "the axis of the quantization does not survive '" +
                          UserName(graph, mover_id) + "'");
      return false;
    }
    inner.encoding->axis = static_cast<int>(*axis);
    quantize.attributes["axis"] = *axis;
  }
  const std::string inner_name = graph.value(mover.operands[0]).name;
  const ValueId codes = rewriter.Declare(inner_name + "_quantized", inner);
  const ValueId result = rewriter.Declare(name, type);
  quantize.operands[0] = mover.operands[0];
  quantize.results = {codes};
  mover.operands[0] = codes;
  mover.results = {result};
  Proposal proposal;
  if (OpOf(mover) == Op::kPad) {
    PadWithCode(rewriter, old, mover, proposal.sheet);
  }
  proposal.removed = {mover_id, id};
  proposal.added = {quantize, mover};
  proposal.sheet.rule = "move_before_quantize";
  proposal.sheet.results = {{old, result}};
  SayNamesLost(proposal, graph);
  return rewriter.Apply(std::move(proposal));
}

bool MoveClamp(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  Node quantize = graph.node(id);
  const NodeId clip_id = graph.value(quantize.operands[0]).producer;
  const Node clip = graph.node(clip_id);
  const ValueId old = quantize.results[0];
  TensorType type = graph.value(old).type;
  double low = OpOf(clip) == Op::kRelu ? 0 : -INFINITY, high = INFINITY;
  if (OpOf(clip) == Op::kClip) {
    const auto bound = [&](size_t at, const char* key, double otherwise) {
      const ValueId v = OperandAt(clip, at);
      return v.valid() ? graph.value(v).constant->real(0)
                       : clip.attribute<double>(key, otherwise);
    };
    low = bound(1, "min", low);
    high = bound(2, "max", high);
  }
  Encoding& e = *type.encoding;
  e.code_low = std::max(CodeOf(low, type), e.code_low.value_or(INT64_MIN));
  e.code_high = std::min(CodeOf(high, type), e.code_high.value_or(INT64_MAX));
  if (e.code_low > e.code_high) return false;
  const std::string name = graph.value(old).name;
  const ValueId result = rewriter.Declare(name, type);
  quantize.operands[0] = clip.operands[0];
  quantize.results = {result};
  quantize.provenance.Merge(clip.provenance);
  Proposal proposal;
  proposal.removed = {clip_id, id};
  proposal.added = {quantize};
  proposal.sheet.rule = "move_before_quantize";
  proposal.sheet.results = {{old, result}};
  for (const auto& [at, slot] : {std::pair(1, Slot::Kind::kCodeLow),
                                 std::pair(2, Slot::Kind::kCodeHigh)}) {
    const ValueId end = OperandAt(clip, at);
    if (!end.valid()) continue;
    SayAbsorbed(proposal.sheet, graph, end, result, {slot});
    proposal.sheet.constants.back().how = {
        {Derivation::Kind::kQuantized, {}, old}};
  }
  SayNamesLost(proposal, graph);
  return rewriter.Apply(std::move(proposal));
}

bool Moves(const Graph& graph, const Node& node) {
  return MovesElements(OpOf(node)) ||
         (OpOf(node) == Op::kPad && PadNumber(graph, node).has_value());
}

// The chain of movers and clamps above `id` starts at a graph input.
bool StartsAtInput(const Graph& graph, ValueId id) {
  for (;;) {
    const Node* node = ProducerOf(graph, id);
    if (!node) return !graph.IsConstant(id);
    const Op op = OpOf(*node);
    if (!Moves(graph, *node) && op != Op::kRelu && op != Op::kClip) {
      return false;
    }
    id = node->operands[0];
  }
}

bool BoundsAreConstant(const Graph& graph, const Node& node) {
  for (size_t i = 1; i < node.operands.size(); ++i) {
    const ValueId id = node.operands[i];
    if (id.valid() && !graph.IsConstant(id)) return false;
  }
  return true;
}

}  // namespace

bool move_before_quantize(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    const std::vector<NodeId> order = rewriter.graph().order();
    for (NodeId id : order) {
      const Graph& graph = rewriter.graph();
      const Node& node = graph.node(id);
      if (node.erased || OpOf(node) != Op::kQuantizeLinear) continue;
      const Node* before = ProducerOf(graph, node.operands[0]);
      if (!before) continue;
      // Movement may follow anything real; a clamp behind an op is its step.
      if (!Moves(graph, *before) &&
          !((OpOf(*before) == Op::kRelu || OpOf(*before) == Op::kClip) &&
            StartsAtInput(graph, node.operands[0]))) {
        continue;
      }
      const auto& encoding = graph.value(node.results[0]).type.encoding;
      if (!encoding || (!encoding->per_tensor() && !Moves(graph, *before)) ||
          !graph.HasSingleUse(node.operands[0]) ||
          !BoundsAreConstant(graph, *before)) {
        continue;
      }
      again |= Moves(graph, *before) ? MoveMovement(rewriter, id)
                                     : MoveClamp(rewriter, id);
    }
    changed |= again;
  }
  return changed;
}

}  // namespace fold::passes
