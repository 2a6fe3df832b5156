#include "compiler/passes/affine_tail.h"

#include <cmath>
#include <limits>

namespace fold {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Builds the op that has taken the tail in.
class Absorption {
 public:
  Absorption(Rewriter& rewriter, NodeId tail, const std::string& rule)
      : rewriter_(rewriter),
        tail_id_(tail),
        tail_(rewriter.graph().node(tail)),
        input_(TailInput(rewriter.graph(), tail_)),
        head_id_(rewriter.graph().value(input_).producer),
        head_(rewriter.graph().node(head_id_)),
        shape_(rewriter.graph().value(head_.results[0]).type.shape) {
    proposal_.sheet.rule = rule;
    proposal_.removed = {head_id_, tail_id_};
    head_.provenance.Merge(tail_.provenance);
  }

  bool Run() {
    const Graph& graph = rewriter_.graph();
    if (graph.value(tail_.results[0]).type.shape != shape_) {
      return Refuse("the constant makes the result larger");
    }
    if (!AddStep()) return false;
    const TensorType type = graph.value(tail_.results[0]).type;
    const std::string name = graph.value(tail_.results[0]).name;
    const ValueId old = tail_.results[0];
    const ValueId result = rewriter_.Declare(name, type);
    head_.results = {result};
    for (ConstantMove& move : proposal_.sheet.constants) {
      if (!move.to.valid()) move.to = result;
    }
    proposal_.sheet.results = {{old, result}};
    proposal_.added = {head_};
    SayNamesLost(proposal_, graph);
    return rewriter_.Apply(std::move(proposal_));
  }

 private:
  bool Refuse(const std::string& reason) {
    rewriter_.Refuse(proposal_.sheet.rule, tail_id_, reason);
    return false;
  }

  bool AddStep() {
    switch (OpOf(tail_)) {
      case Op::kRelu:
        head_.steps.push_back({Step::Kind::kClip, {}, 0, kInfinity, 0});
        return true;
      case Op::kClip:
        return AddClip();
      case Op::kBatchNormalization:
        return AddBatchNorm();
      default:
        return AddScale();
    }
  }

  // Constant `id` as operand of the head, one number a channel at most.
  std::optional<uint32_t> AddChannelConstant(ValueId id, double sign = 1) {
    const Tensor& old = *rewriter_.graph().value(id).constant;
    const int64_t axis = ChannelAxis(head_, shape_);
    const bool vector = OpOf(tail_) == Op::kBatchNormalization;
    std::optional<std::vector<double>> values;
    if (vector) {
      values.emplace();
      for (int64_t i = 0; i < old.size(); ++i) values->push_back(old.real(i));
      if (old.size() != shape_[axis]) values.reset();
    } else {
      values = AsChannelVector(old, shape_, axis);
    }
    if (!values) {
      Refuse("constant '" + rewriter_.graph().value(id).name +
             "' does not run along the channels");
      return std::nullopt;
    }
    for (double& value : *values) value *= sign;
    Shape shape;
    if (values->size() > 1) shape = {static_cast<int64_t>(values->size())};
    if (old.shape == shape && sign == 1) {
      head_.operands.push_back(id);
    } else {
      const auto to_size = static_cast<int64_t>(values->size());
      TensorPtr moved = MakeRealTensor(old.type, shape, *values);
      const std::string name = rewriter_.graph().value(id).name;
      const ValueId to =
          rewriter_.Declare(name, {old.type, shape, std::nullopt}, moved);
      std::vector<Derivation> how = {{old.size() > to_size
                                          ? Derivation::Kind::kCollapsed
                                          : Derivation::Kind::kReshaped}};
      if (sign < 0) how.push_back({Derivation::Kind::kNegated});
      SayTransformed(proposal_.sheet, id, to, how);
      head_.operands.push_back(to);
    }
    return static_cast<uint32_t>(head_.operands.size() - 1);
  }

  // Steps' constants come after the operands that the op itself may have.
  void ReserveOperands() {
    const Op op = OpOf(head_);
    const size_t own = op == Op::kConv || op == Op::kGemm ? 3
                       : op == Op::kRequantize            ? 1
                                                          : 2;
    while (head_.operands.size() < own) head_.operands.emplace_back();
  }

  bool AddScale() {
    ReserveOperands();
    const Op op = OpOf(tail_);
    const ValueId constant =
        tail_.operands[0] == input_ ? tail_.operands[1] : tail_.operands[0];
    const bool from_constant = op == Op::kSub && constant == tail_.operands[0];
    if (from_constant) {  // c - x is x * -1 + c
      TensorPtr minus = MakeRealTensor(ElementType::f32, {}, {-1.0});
      const ValueId minus_one = rewriter_.Declare(
          "minus_one", {ElementType::f32, {}, std::nullopt}, minus);
      SayMade(proposal_.sheet, minus_one, -1);
      head_.operands.push_back(minus_one);
      const auto at = static_cast<uint32_t>(head_.operands.size() - 1);
      head_.steps.push_back({Step::Kind::kMultiply, {at}, 0, 0, 0});
    }
    const bool negate = op == Op::kSub && !from_constant;
    const auto operand = AddChannelConstant(constant, negate ? -1 : 1);
    if (!operand) return false;
    const bool over = op == Op::kDiv && constant == tail_.operands[0];
    const Step::Kind kind = op == Op::kMul   ? Step::Kind::kMultiply
                            : over           ? Step::Kind::kReciprocal
                            : op == Op::kDiv ? Step::Kind::kDivide
                                             : Step::Kind::kAdd;
    head_.steps.push_back({kind, {*operand}, 0, 0, 0});
    return true;
  }

  bool AddBatchNorm() {
    ReserveOperands();
    Step step = {Step::Kind::kBatchNorm,
                 {},
                 0,
                 0,
                 tail_.attribute<double>("epsilon", 1e-5)};
    for (size_t i = 1; i < 5; ++i) {
      const auto operand = AddChannelConstant(tail_.operands[i]);
      if (!operand) return false;
      step.operands.push_back(*operand);
    }
    head_.steps.push_back(step);
    return true;
  }

  bool AddClip() {
    Step step = {Step::Kind::kClip, {}, -kInfinity, kInfinity, 0};
    const auto bound = [&](size_t at, const char* key, double otherwise) {
      const ValueId id = OperandAt(tail_, at);
      if (!id.valid()) return tail_.attribute<double>(key, otherwise);
      SayAbsorbed(proposal_.sheet, rewriter_.graph(), id, ValueId(),
                  {at == 1 ? Slot::Kind::kClipLow : Slot::Kind::kClipHigh,
                   static_cast<int>(head_.steps.size())});
      return rewriter_.graph().value(id).constant->real(0);
    };
    step.low = bound(1, "min", -kInfinity);
    step.high = bound(2, "max", kInfinity);
    if (std::isnan(step.low) || std::isnan(step.high)) {
      return Refuse("a bound is not a number");
    }
    head_.steps.push_back(step);
    return true;
  }

  Rewriter& rewriter_;
  NodeId tail_id_;
  Node tail_;
  ValueId input_;
  NodeId head_id_;
  Node head_;
  Shape shape_;
  Proposal proposal_;
};

bool ConstantFrom(const Graph& graph, const Node& node, size_t first) {
  for (size_t i = first; i < node.operands.size(); ++i) {
    const ValueId id = node.operands[i];
    if (id.valid() && !graph.IsConstant(id)) return false;
  }
  return true;
}

// The node that a chain of steps ending in `id` starts at, null for an input.
const Node* HeadOf(const Graph& graph, ValueId id) {
  for (;;) {
    const Node* node = ProducerOf(graph, id);
    if (!node || !node->steps.empty()) return node;
    switch (OpOf(*node)) {
      case Op::kRelu:
      case Op::kClip:
      case Op::kBatchNormalization:
        break;
      case Op::kAdd:
      case Op::kSub:
      case Op::kMul:
      case Op::kDiv:
        if (graph.IsConstant(node->operands[0]) ==
            graph.IsConstant(node->operands[1])) {
          return node;
        }
        break;
      default:
        return node;
    }
    id = TailInput(graph, *node);
  }
}

// What is computed from `input` step by step ends in a table over codes: a
// constant over an accumulator is not monotone, and no step of a linear op.
bool EndsInTable(const Graph& graph, ValueId input) {
  const Node* head = HeadOf(graph, input);
  if (!head) return false;
  const Op op = OpOf(*head);
  return op == Op::kDequantizeLinear || op == Op::kRequantize;
}

// The constants of `node` are one number, or one a channel where the op that
// the steps go to has channels.
bool ConstantsFit(const Graph& graph, const Node& node, ValueId input) {
  const Node* head = HeadOf(graph, input);
  const Shape& shape = graph.value(input).type.shape;
  if (graph.value(node.results[0]).type.shape != shape) return false;
  const Op op = head ? OpOf(*head) : Op::kDequantizeLinear;
  const bool channels = op == Op::kConv || op == Op::kGemm ||
                        op == Op::kMatMul || op == Op::kRequantize ||
                        op == Op::kScaledReciprocal ||
                        op == Op::kDequantizeLinear;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = op == Op::kGemm || op == Op::kMatMul ? rank - 1
                       : rank > 1                           ? 1
                                                            : 0;
  const bool batch_norm = OpOf(node) == Op::kBatchNormalization;
  if (batch_norm) return channels && rank > 1 && axis == 1;
  for (ValueId id : node.operands) {
    if (!graph.IsConstant(id)) continue;
    if (!IsFinite(*graph.value(id).constant)) return false;
    const auto values = AsChannelVector(*graph.value(id).constant, shape, axis);
    if (!values || (values->size() > 1 && !channels)) return false;
  }
  return true;
}

}  // namespace

ValueId TailInput(const Graph& graph, const Node& node) {
  const ValueId first = node.operands[0];
  return graph.IsConstant(first) ? OperandAt(node, 1) : first;
}

Tail TailKind(const Graph& graph, const Node& node) {
  if (!node.steps.empty() || node.operands.empty()) return Tail::kNone;
  const ValueId input = TailInput(graph, node);
  if (!input.valid() || !IsReal(graph.value(input).type)) return Tail::kNone;
  switch (OpOf(node)) {
    case Op::kRelu:
      return Tail::kActivation;
    case Op::kClip:
      return ConstantFrom(graph, node, 1) ? Tail::kActivation : Tail::kNone;
    case Op::kBatchNormalization:
      return ConstantFrom(graph, node, 1) && ConstantsFit(graph, node, input)
                 ? Tail::kBatchNorm
                 : Tail::kNone;
    case Op::kDiv:
      if (graph.IsConstant(node.operands[0]) && !EndsInTable(graph, input)) {
        return Tail::kNone;
      }
      [[fallthrough]];
    case Op::kMul:
    case Op::kAdd:
    case Op::kSub:
      return graph.IsConstant(node.operands[0]) !=
                         graph.IsConstant(node.operands[1]) &&
                     ConstantsFit(graph, node, input)
                 ? Tail::kScale
                 : Tail::kNone;
    default:
      return Tail::kNone;
  }
}

bool AbsorbTail(Rewriter& rewriter, NodeId tail, const std::string& rule) {
  const Graph& graph = rewriter.graph();
  const ValueId input = TailInput(graph, graph.node(tail));
  if (!graph.HasSingleUse(input)) {
    rewriter.Refuse(rule, tail,
                    "the value before it, '" + graph.value(input).name +
                        "', has other users");
    return false;
  }
  return Absorption(rewriter, tail, rule).Run();
}

}  // namespace fold
