// A QLinear product whose constant stands on the left has no kernel as it is.
// Between DequantizeLinear and QuantizeLinear it is a product like any other,
// which later passes turn (constants_to_right) or keep as an island.
#include "compiler/annotate/qlinear_operands.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

constexpr char kRule[] = "open_qlinear";

class Opening {
 public:
  Opening(Rewriter& rewriter, NodeId id)
      : rewriter_(rewriter),
        graph_(rewriter.graph()),
        id_(id),
        node_(graph_.node(id)),
        gemm_(OpOf(node_) == Op::kQGemm) {}

  bool Run() {
    proposal_.removed = {id_};
    proposal_.sheet.rule = kRule;
    const auto operands = QLinearOperands(node_);
    std::vector<ValueId> reals;
    for (const QLinearOperand& operand : operands) {
      if (!operand.result) reals.push_back(Dequantized(operand));
    }
    if (OperandAt(node_, QLinearBias(node_)).valid()) {
      reals.push_back(DequantizedBias());
    }
    const ValueId old = node_.results[0];
    const Value value = graph_.value(old);
    const bool quantized = operands.back().scale < node_.operands.size() &&
                           node_.operands[operands.back().scale].valid();
    const ValueId result = rewriter_.Declare(value.name, value.type);
    const ValueId product = quantized ? Real("_product", old) : result;
    Node& made = Add(gemm_ ? Op::kGemm : Op::kMatMul, reals, product);
    if (gemm_) {
      made.attributes = node_.attributes;
      made.attributes.erase("opset");
      // A QGemm's alpha scales its sums and its bias alike.
      if (made.attributes.count("alpha")) {
        made.attributes["beta"] = made.attributes.at("alpha");
      }
    }
    if (quantized) {
      Add(Op::kQuantizeLinear,
          {product, node_.operands[operands.back().scale],
           OperandAt(node_, operands.back().zero)},
          result);
    }
    proposal_.sheet.results = {{old, result}};
    return rewriter_.Apply(std::move(proposal_));
  }

 private:
  // A real value with the shape of `like`.
  ValueId Real(const std::string& suffix, ValueId like) {
    const Value value = graph_.value(like);
    return rewriter_.Declare(
        value.name + suffix,
        {ElementType::f32, value.type.shape, std::nullopt});
  }

  Node& Add(Op op, std::vector<ValueId> operands, ValueId result) {
    while (!operands.back().valid()) operands.pop_back();
    Node node;
    node.op = ToId(op);
    node.name = node_.name;
    node.operands = std::move(operands);
    node.results = {result};
    node.provenance = node_.provenance;
    proposal_.added.push_back(std::move(node));
    return proposal_.added.back();
  }

  ValueId Dequantized(const QLinearOperand& operand) {
    const ValueId codes = node_.operands[operand.value];
    const ValueId real = Real("_real", codes);
    Node& dequantize = Add(
        Op::kDequantizeLinear,
        {codes, node_.operands[operand.scale], OperandAt(node_, operand.zero)},
        real);
    dequantize.attributes["axis"] = operand.axis;
    return real;
  }

  // Its scale, the product of the others, is in the type of its codes.
  ValueId DequantizedBias() {
    const ValueId codes = node_.operands[QLinearBias(node_)];
    const Encoding& e = *graph_.value(codes).type.encoding;
    Shape shape;
    if (!e.per_tensor()) shape = {static_cast<int64_t>(e.scales.size())};
    const ValueId scale =
        rewriter_.Declare(graph_.value(codes).name + "_scale",
                          {ElementType::f64, shape, std::nullopt},
                          MakeRealTensor(ElementType::f64, shape, e.scales));
    SayMadeOf(proposal_.sheet, scale, {Slot::Kind::kScales}, codes);
    const ValueId real = Real("_real", codes);
    Node& dequantize = Add(Op::kDequantizeLinear, {codes, scale}, real);
    dequantize.attributes["axis"] = int64_t{0};
    return real;
  }

  Rewriter& rewriter_;
  const Graph& graph_;
  NodeId id_;
  const Node node_;
  bool gemm_;
  Proposal proposal_;
};

}  // namespace

bool open_qlinear(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Graph& graph = rewriter.graph();
    const Node& node = graph.node(id);
    if (OpOf(node) != Op::kQLinearMatMul && OpOf(node) != Op::kQGemm) continue;
    if (!ConstantOf(graph, node.operands[0])) continue;
    if (ConstantOf(graph, node.operands[3])) {
      rewriter.Refuse(kRule, id, "both of its operands are constant");
      continue;
    }
    changed |= Opening(rewriter, id).Run();
  }
  return changed;
}

}  // namespace fold::passes
