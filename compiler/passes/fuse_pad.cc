// A Pad with real zeros (the zero point's code) on the spatial dimensions,
// right before a convolution, is padding of the convolution's own.
#include <algorithm>

#include "compiler/ops/movement.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

using Ints = std::vector<int64_t>;

// The Pad's begin and end per spatial dimension, if it pads nothing else, and
// with what stands for zero.
std::optional<Ints> ZeroPads(const Graph& graph, const Node& pad) {
  if (pad.attribute<std::string>("mode", "constant") != "constant") {
    return std::nullopt;
  }
  const TensorType& type = graph.value(pad.operands[0]).type;
  const NodeView view(graph, pad);
  const auto pads = PadsOf(view.view());
  const size_t rank = type.shape.size();
  if (!pads || rank < 3 || !type.encoding || !type.encoding->per_tensor()) {
    return std::nullopt;
  }
  const ValueId value = OperandAt(pad, 2);
  const int64_t code = value.valid() && graph.IsConstant(value)
                           ? graph.value(value).constant->integer(0)
                           : pad.attribute<int64_t>("value", 0);
  if (value.valid() && !graph.IsConstant(value)) return std::nullopt;
  if (code != type.encoding->zero_points[0]) return std::nullopt;
  Ints spatial;
  for (size_t side = 0; side < 2; ++side) {
    for (size_t d = 0; d < rank; ++d) {
      const int64_t count = (*pads)[side * rank + d];
      if (count < 0 || (d < 2 && count != 0)) return std::nullopt;
      if (d >= 2) spatial.push_back(count);
    }
  }
  return spatial;
}

// The Pad's numbers of elements, and the axes that they are of if it says so,
// are the difference between a convolution's pads before and after.
std::string PadsFault(const Graph& graph, const Node& pad, const Ints& before,
                      const Ints& after) {
  const size_t spatial = after.size() / 2;
  const TensorPtr counts = graph.value(pad.operands[1]).constant;
  const ValueId listed = OperandAt(pad, 3);
  Ints axes;
  for (int64_t i = 0; i < counts->size() / 2; ++i) axes.push_back(i);
  if (listed.valid()) {
    for (size_t i = 0; i < axes.size(); ++i) {
      axes[i] = graph.value(listed).constant->integer(static_cast<int64_t>(i));
      if (axes[i] < 0) axes[i] += static_cast<int64_t>(spatial) + 2;
    }
  }
  Ints sum = before;
  for (size_t i = 0; i < axes.size(); ++i) {
    for (size_t side = 0; side < 2; ++side) {
      const int64_t count =
          counts->integer(static_cast<int64_t>(side * axes.size() + i));
      if (axes[i] >= 2) {
        sum[side * spatial + axes[i] - 2] += count;
      } else if (count != 0) {
        return "pads an axis that the convolution does not";
      }
    }
  }
  return sum == after ? "" : "is not what the convolution's pads gained";
}

void SayPads(MigrationSheet& sheet, const Graph& graph, const Node& pad,
             const Ints& before, const Ints& after) {
  for (size_t at : {1, 3}) {
    const ValueId id = OperandAt(pad, at);
    if (!id.valid() || !graph.IsConstant(id)) continue;
    ConstantMove move = {id, ValueId(), ConstantMove::Kind::kUnneeded,
                         "added to the convolution's pads"};
    move.why = Unneeded::kNamed;
    move.verify = [=](const Graph& now, const ConstantMove&) {
      return PadsFault(now, pad, before, after);
    };
    sheet.constants.push_back(std::move(move));
  }
}

bool Fuse(Rewriter& rewriter, NodeId id, const Ints& added) {
  const Graph& graph = rewriter.graph();
  Node conv = graph.node(id);
  const NodeId pad_id = graph.value(conv.operands[0]).producer;
  const Node pad = graph.node(pad_id);
  const Ints before = conv.attribute<Ints>("pads", Ints(added.size(), 0));
  Ints pads = before;
  for (size_t i = 0; i < pads.size(); ++i) pads[i] += added[i];
  conv.attributes["pads"] = pads;
  conv.provenance.Merge(pad.provenance);
  const ValueId old = conv.results[0];
  const ValueId padded = conv.operands[0];
  const TensorType type = graph.value(old).type;
  const std::string name = graph.value(old).name;
  const ValueId result = rewriter.Declare(name, type);
  conv.operands[0] = pad.operands[0];
  conv.results = {result};
  Proposal proposal;
  proposal.removed = {pad_id, id};
  proposal.added = {conv};
  proposal.sheet.rule = "fuse_pad";
  proposal.sheet.results = {{old, result}};
  const int axis = graph.value(padded).type.encoding->axis;
  proposal.sheet.encodings = {
      {padded, pad.operands[0], EncodingMove::Destination::kType, axis, axis}};
  SayPads(proposal.sheet, graph, pad, before, pads);
  SayAbsorbed(proposal.sheet, graph, OperandAt(pad, 2), pad.operands[0],
              {Slot::Kind::kZeroPoints});
  SayNamesLost(proposal, graph);
  return rewriter.Apply(std::move(proposal));
}

}  // namespace

bool fuse_pad(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Graph& graph = rewriter.graph();
    const Node& conv = graph.node(id);
    if (conv.erased || OpOf(conv) != Op::kConv || !IsIntegerOp(graph, conv)) {
      continue;
    }
    const Node* pad = ProducerOf(graph, conv.operands[0], Op::kPad);
    if (!pad || !graph.HasSingleUse(conv.operands[0])) continue;
    if (conv.attribute<std::string>("auto_pad", "NOTSET") != "NOTSET") continue;
    const auto pads = ZeroPads(graph, *pad);
    if (pads) changed |= Fuse(rewriter, id, *pads);
  }
  return changed;
}

}  // namespace fold::passes
