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

bool Fuse(Rewriter& rewriter, NodeId id, const Ints& added) {
  const Graph& graph = rewriter.graph();
  Node conv = graph.node(id);
  const NodeId pad_id = graph.value(conv.operands[0]).producer;
  const Node pad = graph.node(pad_id);
  Ints pads = conv.attribute<Ints>("pads", Ints(added.size(), 0));
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
  for (size_t i = 1; i < pad.operands.size(); ++i) {
    if (!pad.operands[i].valid()) continue;
    proposal.sheet.constants.push_back(
        {pad.operands[i], result, ConstantMove::Kind::kUnneeded,
         "the numbers of padded elements are in the convolution's pads"});
  }
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
