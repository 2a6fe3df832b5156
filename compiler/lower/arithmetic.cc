// Add, Sub, Mul of two quantized values, and requantization of one.
#include <algorithm>

#include "compiler/exact/table_entry.h"
#include "compiler/exact/two_input.h"
#include "compiler/lower/requantization.h"
#include "compiler/ops/ops.h"

namespace fold {
namespace {

exact::InputCodes CodesOf(const TensorType& type) {
  exact::InputCodes codes;
  codes.code_low = LowestCode(type.element);
  codes.code_high = HighestCode(type.element);
  codes.zero_point = type.encoding->zero_points[0];
  codes.scale = exact::FromDouble(type.encoding->scales[0]);
  return codes;
}

// Entries in the smallest type of the result.
int AddTable(Lowering& lowering, const std::string& name, ElementType type,
             const std::vector<int64_t>& entries) {
  const TensorPtr table =
      MakeIntegerTensor(type, {static_cast<int64_t>(entries.size())}, entries);
  return lowering.AddConstant(name, FormatType(type), table->shape,
                              table->bytes);
}

class PairOp {
 public:
  PairOp(Lowering& lowering, NodeId id)
      : lowering_(lowering), id_(id), node_(lowering.graph.node(id)) {}

  bool Run() {
    const TensorType& result = lowering_.type(node_.results[0]);
    const bool good = result.encoding && result.encoding->per_tensor();
    for (int i = 0; i < 2; ++i) {
      const TensorType& type = lowering_.type(node_.operands[i]);
      if (good && type.encoding && type.encoding->per_tensor() &&
          ElementSize(type.element) == 1) {
        continue;
      }
      return lowering_.Error(DiagnosticCode::unsupported_operator, id_,
                             "its operands are not 8-bit with one scale each");
    }
    PlaceOperands();
    return OpOf(node_) == Op::kMul ? Multiply() : AddOrSubtract();
  }

 private:
  // Both operands in the layout that the first large one has.
  void PlaceOperands() {
    const ValueId a = node_.operands[0], b = node_.operands[1];
    const size_t rank = lowering_.type(node_.results[0]).shape.size();
    const auto full = [&](ValueId id) {
      return lowering_.type(id).shape.size() == rank;
    };
    perm_ = IdentityPerm(rank);
    if (full(a) && full(b)) {
      const bool first = ElementCount(lowering_.type(a).shape) >=
                         ElementCount(lowering_.type(b).shape);
      perm_ = lowering_.LayoutOf(first ? a : b);
      a_ = lowering_.Want(a, perm_);
      b_ = lowering_.Want(b, perm_);
      return;
    }
    a_ = lowering_.Want(a, IdentityPerm(lowering_.type(a).shape.size()));
    b_ = lowering_.Want(b, IdentityPerm(lowering_.type(b).shape.size()));
  }

  bool AddOrSubtract() {
    exact::TwoInputProblem problem;
    problem.a = CodesOf(lowering_.type(node_.operands[0]));
    problem.b = CodesOf(lowering_.type(node_.operands[1]));
    problem.subtract = OpOf(node_) == Op::kSub;
    AppendSteps(lowering_.graph, node_, 0, &problem.steps);
    const TensorType& type = lowering_.type(node_.results[0]);
    problem.quantization = QuantizationOf(type, 0);
    const exact::TwoInputResult found = exact::ChooseTwoInput(problem);
    if (!found.plan) {
      return lowering_.Error(DiagnosticCode::not_on_target, id_,
                             "no exact form: " + found.refusal);
    }
    const exact::TwoInputPlan& plan = *found.plan;
    const int result = lowering_.AddValue(node_.results[0], perm_);
    if (plan.form == exact::TwoInputForm::kTable) {
      const std::vector<int64_t> entries(plan.table.begin(), plan.table.end());
      const int table = AddTable(
          lowering_, lowering_.graph.value(node_.results[0]).name + "/table",
          type.element, entries);
      lowering_.AddOp(id_, format_::Opcode::TABLE_2, {a_, b_, table}, {result})
          .parameters.Set(format_::TableParametersT());
      return true;
    }
    format_::Add2ParametersT p;
    p.form = plan.form == exact::TwoInputForm::kMultiply64
                 ? format_::PairForm::MUL64
             : plan.form == exact::TwoInputForm::kHalfEven64
                 ? format_::PairForm::HALF_EVEN64
                 : format_::PairForm::REMAINDER;
    p.a_multiplier = plan.multiplier_a;
    p.b_multiplier = plan.multiplier_b;
    p.addend = plan.addend;
    if (p.form != format_::PairForm::REMAINDER) {
      p.shift = static_cast<uint8_t>(plan.shift);
    }
    if (p.form == format_::PairForm::REMAINDER) p.divisor = plan.divisor;
    if (p.form != format_::PairForm::MUL64) {
      p.zero = static_cast<int>(plan.zero_point);
    }
    p.lo = static_cast<int>(plan.low);
    p.hi = static_cast<int>(plan.high);
    lowering_.AddOp(id_, format_::Opcode::ADD2, {a_, b_}, {result})
        .parameters.Set(std::move(p));
    return true;
  }

  bool Multiply() {
    const exact::InputCodes a = CodesOf(lowering_.type(node_.operands[0]));
    const exact::InputCodes b = CodesOf(lowering_.type(node_.operands[1]));
    exact::ChannelProblem problem;
    for (int64_t x : {a.code_low - a.zero_point, a.code_high - a.zero_point}) {
      for (int64_t y :
           {b.code_low - b.zero_point, b.code_high - b.zero_point}) {
        problem.acc_low = std::min(problem.acc_low, x * y);
        problem.acc_high = std::max(problem.acc_high, x * y);
      }
    }
    problem.steps = {exact::Multiply{a.scale * b.scale}};
    AppendSteps(lowering_.graph, node_, 0, &problem.steps);
    problem.quantization = QuantizationOf(lowering_.type(node_.results[0]), 0);
    format_::Mul2ParametersT p;
    p.a_zero = static_cast<int>(a.zero_point);
    p.b_zero = static_cast<int>(b.zero_point);
    p.requant = ProveRequant(lowering_, id_, {problem});
    if (!p.requant) return false;
    const int result = lowering_.AddValue(node_.results[0], perm_);
    lowering_.AddOp(id_, format_::Opcode::MUL2, {a_, b_}, {result})
        .parameters.Set(std::move(p));
    return true;
  }

  Lowering& lowering_;
  NodeId id_;
  const Node& node_;
  Perm perm_;
  int a_ = -1, b_ = -1;
};

// A table of 256 entries, or one a channel where the steps differ by channel.
bool LowerRequantize(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  const TensorType& x = lowering.type(node.operands[0]);
  const TensorType& y = lowering.type(node.results[0]);
  if (!y.encoding || !y.encoding->per_tensor() || !x.encoding->per_tensor() ||
      ElementSize(x.element) != 1) {
    return lowering.Error(DiagnosticCode::unsupported_operator, id,
                          "a requantization of values that are not 8-bit with "
                          "one scale");
  }
  int64_t channels = 1;
  for (size_t i = 1; i < node.operands.size(); ++i) {
    if (!lowering.graph.IsConstant(node.operands[i])) continue;
    channels =
        std::max(channels, lowering.type(node.operands[i]).shape.empty()
                               ? 1
                               : lowering.type(node.operands[i]).shape[0]);
  }
  std::vector<int64_t> entries;
  for (int64_t c = 0; c < channels; ++c) {
    exact::TableProblem problem;
    problem.code_low = LowestCode(x.element);
    problem.code_high = HighestCode(x.element);
    problem.zero_point = x.encoding->zero_points[0];
    problem.scale = exact::FromDouble(x.encoding->scales[0]);
    AppendSteps(lowering.graph, node, c, &problem.steps);
    problem.quantization = QuantizationOf(y, 0);
    const auto fault = exact::FindFault(problem);
    if (fault) {
      return lowering.Error(DiagnosticCode::unsupported_operator, id, *fault);
    }
    for (const exact::TableEntry& entry : exact::EvaluateTable(problem)) {
      entries.push_back(entry.code);
    }
  }
  const Perm perm = lowering.LayoutOf(node.operands[0]);
  const int from = lowering.Want(node.operands[0], perm);
  const int to = lowering.AddValue(node.results[0], perm);
  const int table =
      AddTable(lowering, lowering.graph.value(node.results[0]).name + "/table",
               y.element, entries);
  format_::TableParametersT p;
  p.axis = channels == 1 ? -1 : PlaceOf(perm, x.shape.size() > 1 ? 1 : 0);
  lowering.AddOp(id, format_::Opcode::TABLE_1, {from, table}, {to})
      .parameters.Set(std::move(p));
  return true;
}

}  // namespace

bool LowerArithmetic(Lowering& lowering, NodeId id) {
  if (OpOf(lowering.graph.node(id)) == Op::kRequantize) {
    return LowerRequantize(lowering, id);
  }
  return PairOp(lowering, id).Run();
}

}  // namespace fold
