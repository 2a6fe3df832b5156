// A QLinear operator is an operator on quantized types, its scales and zero
// points as operands: they are in the types since binding, so the operator
// keeps its data alone. QLinearSoftmax is a float operator between a
// DequantizeLinear and a QuantizeLinear.
#include "compiler/annotate/annotate.h"
#include "compiler/annotate/qlinear_operands.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"
#include "compiler/passes/recast.h"

namespace fold::passes {
namespace {

Op IntegerOp(Op op) {
  switch (op) {
    case Op::kQLinearConv:
      return Op::kConv;
    case Op::kQLinearMatMul:
      return Op::kMatMul;
    case Op::kQGemm:
      return Op::kGemm;
    case Op::kQLinearAdd:
      return Op::kAdd;
    case Op::kQLinearMul:
      return Op::kMul;
    case Op::kQLinearAveragePool:
      return Op::kAveragePool;
    case Op::kQLinearGlobalAveragePool:
      return Op::kGlobalAveragePool;
    case Op::kQLinearConcat:
      return Op::kConcat;
    default:
      return Op::kSoftmax;
  }
}

// The data operands, each in a value whose type says what the operator states,
// then the bias; the parameters are said to be absorbed.
std::vector<ValueId> DataOperands(Rewriter& rewriter, NodeId id, ValueId result,
                                  Proposal& proposal) {
  const Node node = rewriter.graph().node(id);
  const auto operands = QLinearOperands(node);
  Diagnostics ignored;  // annotate has reported the faults
  const auto stated = StatedEncodings(rewriter.graph(), id, &ignored);
  std::vector<ValueId> data;
  std::optional<Encoding> x, w;
  for (size_t i = 0; i < operands.size(); ++i) {
    const QLinearOperand& operand = operands[i];
    ValueId value = result;
    if (!operand.result) {
      value = OperandAt(node, operand.value);
      if (stated[i]) {
        value = WithEncoding(rewriter, proposal, value, *stated[i],
                             node.provenance);
      }
      data.push_back(value);
    }
    if (operand.value == 0) x = stated[i];
    if (operand.weight) w = stated[i];
    SayAbsorbed(proposal.sheet, rewriter.graph(),
                OperandAt(node, operand.scale), value, {Slot::Kind::kScales});
    SayAbsorbed(proposal.sheet, rewriter.graph(), OperandAt(node, operand.zero),
                value, {Slot::Kind::kZeroPoints});
  }
  const ValueId bias = OperandAt(node, QLinearBias(node));
  if (bias.valid() && x && w) {
    data.push_back(WithEncoding(rewriter, proposal, bias,
                                BiasEncoding(*x, *w, node.name),
                                node.provenance));
  }
  return data;
}

bool FoldInteger(Rewriter& rewriter, NodeId id) {
  const Node node = rewriter.graph().node(id);
  const ValueId old = node.results[0];
  const TensorType type = rewriter.graph().value(old).type;
  const std::string name = rewriter.graph().value(old).name;
  const ValueId result = rewriter.Declare(name, type);
  Proposal proposal;
  proposal.removed = {id};
  proposal.sheet.rule = "fold_qlinear";
  proposal.sheet.results = {{old, result}};
  Node integer;
  integer.op = ToId(IntegerOp(OpOf(node)));
  integer.name = node.name;
  integer.attributes = node.attributes;
  integer.attributes.erase("channels_last");
  // A QGemm's alpha scales its sums and its bias alike.
  if (OpOf(node) == Op::kQGemm && node.attributes.count("alpha")) {
    integer.attributes["beta"] = node.attributes.at("alpha");
  }
  integer.provenance = node.provenance;
  integer.operands = DataOperands(rewriter, id, result, proposal);
  integer.results = {result};
  proposal.added.push_back(integer);
  return rewriter.Apply(std::move(proposal));
}

// DequantizeLinear -> Softmax -> QuantizeLinear.
bool FoldSoftmax(Rewriter& rewriter, NodeId id) {
  const Node node = rewriter.graph().node(id);
  const Graph& graph = rewriter.graph();
  const ValueId old = node.results[0];
  const TensorType type = graph.value(old).type;
  const std::string name = graph.value(old).name;
  const TensorType real = {ElementType::f32, type.shape, std::nullopt};
  const ValueId input = rewriter.Declare(name + "_input", real);
  const ValueId output = rewriter.Declare(name + "_output", real);
  const ValueId result = rewriter.Declare(name, type);
  const auto make = [&](Op op, std::vector<ValueId> operands, ValueId to) {
    Node made;
    made.op = ToId(op);
    made.name = node.name;
    made.operands = std::move(operands);
    made.results = {to};
    made.provenance = node.provenance;
    return made;
  };
  Node softmax = make(Op::kSoftmax, {input}, output);
  softmax.attributes["axis"] = node.attribute<int64_t>("axis", -1);
  softmax.attributes["opset"] = node.attribute<int64_t>("opset", 13);
  Proposal proposal;
  proposal.removed = {id};
  proposal.added = {
      make(Op::kDequantizeLinear,
           {node.operands[0], node.operands[1], node.operands[2]}, input),
      softmax,
      make(Op::kQuantizeLinear, {output, node.operands[3], node.operands[4]},
           result)};
  proposal.sheet.rule = "fold_qlinear";
  proposal.sheet.results = {{old, result}};
  return rewriter.Apply(std::move(proposal));
}

}  // namespace

bool fold_qlinear(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Node& node = rewriter.graph().node(id);
    const Op op = OpOf(node);
    if (!IsQLinear(op)) continue;
    if (node.attribute<int64_t>("channels_last", 0) != 0) {
      rewriter.Refuse("fold_qlinear", id, "channels_last is not supported");
      continue;
    }
    // A QGemm without output parameters gives real numbers.
    changed |= op == Op::kQLinearSoftmax ? FoldSoftmax(rewriter, id)
                                         : FoldInteger(rewriter, id);
  }
  return changed;
}

}  // namespace fold::passes
