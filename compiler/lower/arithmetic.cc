// Add, Sub, Mul, Div of two quantized values, one of which may be constant.
#include <algorithm>

#include "compiler/exact/two_input.h"
#include "compiler/lower/reachable_codes.h"
#include "compiler/lower/requantization.h"
#include "compiler/lower/table.h"
#include "compiler/ops/movement.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/pattern.h"

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

// The constant `id` as a tensor of numbers that broadcasts like it, in the
// physical order `perm` of what it goes with.
TensorPtr PlacedConstant(const Tensor& constant, const Perm& perm) {
  Tensor padded = constant;
  padded.shape.insert(padded.shape.begin(), perm.size() - constant.shape.size(),
                      1);
  return TransposeTensor(padded, {perm.begin(), perm.end()});
}

class PairOp {
 public:
  PairOp(Lowering& lowering, NodeId id)
      : lowering_(lowering), id_(id), node_(lowering.graph.node(id)) {}

  bool Run() {
    const TensorType& result = lowering_.type(node_.results[0]);
    if (!result.encoding || !result.encoding->per_tensor()) {
      return Refuse("its result does not have one scale");
    }
    for (size_t i = 0; i < 2; ++i) {
      if (IsConstant(i)) continue;
      if (!HasOneByteScale(i)) {
        return Refuse("its operands are not 8-bit with one scale each");
      }
    }
    perm_ = ResultLayout();
    const bool codes = HasOneByteScale(0) && HasOneByteScale(1);
    if (codes && OpOf(node_) != Op::kDiv) {
      a_ = PlaceCodes(0);
      b_ = PlaceCodes(1);
      return OpOf(node_) == Op::kMul ? Multiply() : AddOrSubtract();
    }
    const auto a = Axis(0), b = Axis(1);
    return a && b && LowerPairTable(lowering_, id_, *a, *b, perm_);
  }

 private:
  bool Refuse(const std::string& why) {
    return lowering_.Error(DiagnosticCode::unsupported_operator, id_, why);
  }
  bool IsConstant(size_t i) const {
    return lowering_.graph.IsConstant(node_.operands[i]);
  }
  bool HasOneByteScale(size_t i) const {
    const TensorType& type = lowering_.type(node_.operands[i]);
    return type.encoding && type.encoding->per_tensor() &&
           ElementSize(type.element) == 1;
  }
  bool IsFull(size_t i) const {
    return lowering_.type(node_.operands[i]).shape.size() ==
           lowering_.type(node_.results[0]).shape.size();
  }

  // The layout that the first large operand of the run time has, if the other
  // one can be brought into it.
  Perm ResultLayout() const {
    Perm identity = IdentityPerm(lowering_.type(node_.results[0]).shape.size());
    for (size_t i = 0; i < 2; ++i) {
      if (!IsConstant(i) && !IsFull(i)) return identity;
    }
    const auto size = [&](size_t i) {
      return ElementCount(lowering_.type(node_.operands[i]).shape);
    };
    const bool first = !IsConstant(0) && (IsConstant(1) || size(0) >= size(1));
    return lowering_.LayoutOf(node_.operands[first ? 0 : 1]);
  }

  // The tensor of operand i's codes, which are the run time's or constant.
  int PlaceCodes(size_t i) {
    const ValueId id = node_.operands[i];
    if (!IsConstant(i)) {
      return lowering_.Want(id, IsFull(i) ? perm_ : IdentityPerm(Rank(i)));
    }
    const Value& value = lowering_.graph.value(id);
    const TensorPtr placed = PlacedConstant(*value.constant, perm_);
    return lowering_.AddConstant(value.name, FormatType(placed->type),
                                 placed->shape, placed->bytes);
  }
  size_t Rank(size_t i) const {
    return lowering_.type(node_.operands[i]).shape.size();
  }

  // Operand i as an axis of a table of pairs; nullopt after an error.
  std::optional<PairAxis> Axis(size_t i) {
    const ValueId id = node_.operands[i];
    PairAxis axis;
    if (!IsConstant(i)) {
      const exact::InputCodes codes = CodesOf(lowering_.type(id));
      const CodeInterval reachable = ReachableCodes(lowering_.graph, id);
      axis.tensor = PlaceCodes(i);
      axis.type = lowering_.type(id).element;
      const ElementType stored = StoredAs(axis.type);
      for (int64_t x = LowestCode(stored); x <= HighestCode(stored); ++x) {
        axis.numbers.push_back(exact::FromInt64(x - codes.zero_point) *
                               codes.scale);
        axis.reachable.push_back(reachable.Contains(x));
      }
      return axis;
    }
    const Value& value = lowering_.graph.value(id);
    const auto& encoding = value.type.encoding;
    if ((encoding && encoding->block > 0) || !IsFinite(*value.constant)) {
      Refuse("its constant has blocked scales or is not finite");
      return std::nullopt;
    }
    const std::vector<double> numbers =
        DistinctNumbers(*value.constant, encoding);
    if (numbers.size() > 256) {
      Refuse("its constant has " + std::to_string(numbers.size()) +
             " different numbers; a table takes 256");
      return std::nullopt;
    }
    for (double number : numbers) {
      axis.numbers.push_back(exact::FromDouble(number));
    }
    axis.reachable.assign(numbers.size(), true);
    axis.tensor = PlaceIndices(value, numbers);
    return axis;
  }

  // For each element of the constant the place of its number in `numbers`.
  int PlaceIndices(const Value& value, const std::vector<double>& numbers) {
    const Tensor& constant = *value.constant;
    std::vector<double> reals;
    if (value.type.encoding) {
      reals = RealNumbersOf(constant, *value.type.encoding);
    } else {
      for (int64_t i = 0; i < constant.size(); ++i) {
        reals.push_back(constant.real(i));
      }
    }
    std::vector<int64_t> indices;
    indices.reserve(reals.size());
    for (double real : reals) {
      indices.push_back(
          std::lower_bound(numbers.begin(), numbers.end(), real + 0.0) -
          numbers.begin());
    }
    const TensorPtr placed = PlacedConstant(
        *MakeIntegerTensor(ElementType::u8, constant.shape, indices), perm_);
    return lowering_.AddConstant(value.name + "/index",
                                 format_::ElementType::U8, placed->shape,
                                 placed->bytes);
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
        .parameters.Set(p);
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

}  // namespace

bool LowerArithmetic(Lowering& lowering, NodeId id) {
  return PairOp(lowering, id).Run();
}

}  // namespace fold
