#include "compiler/exact/two_input.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "compiler/exact/rounding.h"
#include "compiler/exact/two_input_rows.h"

namespace fold::exact {
namespace {

// Row a as a problem in the accumulator b:
//   real = b * (±sb) + ((a - za) * sa - zb * (±sb)).
ChannelProblem RowProblem(const TwoInputProblem& problem, std::int64_t a) {
  const Rational scale_b =
      problem.subtract ? Rational(-problem.b.scale) : problem.b.scale;
  ChannelProblem row;
  row.acc_low = problem.b.code_low;
  row.acc_high = problem.b.code_high;
  row.steps.push_back(Multiply{scale_b});
  row.steps.push_back(
      Add{Rational(FromInt64(a - problem.a.zero_point) * problem.a.scale -
                   FromInt64(problem.b.zero_point) * scale_b)});
  row.steps.insert(row.steps.end(), problem.steps.begin(), problem.steps.end());
  row.quantization = problem.quantization;
  return row;
}

std::size_t TableIndex(const TwoInputProblem& problem, std::int64_t a,
                       std::int64_t b) {
  return static_cast<std::size_t>((a - problem.a.code_low) *
                                      CodeCount(problem.b) +
                                  (b - problem.b.code_low));
}

std::optional<std::string> FindFaultOfInput(const InputCodes& input) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 32;
  if (sgn(input.scale) == 0) return "an input's scale is zero";
  for (const std::int64_t value :
       {input.code_low, input.code_high, input.zero_point}) {
    if (value < -kLimit || value > kLimit) {
      return "an input's code or zero point lies beyond 2^32";
    }
  }
  if (input.code_low > input.code_high) return "an input has no codes";
  return std::nullopt;
}

bool EqualOnRow(const TwoInputProblem& problem, const TwoInputPlan& plan,
                std::int64_t a, const StepFunction& row) {
  std::size_t next = 0;
  std::int64_t code = row.first_code;
  for (std::int64_t b = row.acc_low; b <= row.acc_high; ++b) {
    for (; next < row.thresholds.size() && row.thresholds[next] <= b; ++next) {
      code += row.increasing ? 1 : -1;
    }
    if (Evaluate(problem, plan, a, b) != code) return false;
  }
  return true;
}

}  // namespace

std::string_view Name(TwoInputForm form) {
  static constexpr std::array<std::string_view, kTwoInputFormCount> kNames = {
      "multiply64", "half_even64", "remainder", "table"};
  return kNames[static_cast<std::size_t>(form)];
}

std::optional<std::string> FindFault(const TwoInputProblem& problem) {
  for (const InputCodes* input : {&problem.a, &problem.b}) {
    if (auto fault = FindFaultOfInput(*input)) return fault;
  }
  return FindFault(RowProblem(problem, problem.a.code_low));
}

TwoInputRows IdealRows(const TwoInputProblem& problem) {
  TwoInputRows result;
  result.rows.reserve(CodeCount(problem.a));
  std::size_t most = 0;
  for (std::int64_t a = problem.a.code_low; a <= problem.a.code_high; ++a) {
    const ChannelProblem row = RowProblem(problem, a);
    const std::vector<Piece> pieces = ScaledPieces(row);
    result.rows.push_back(IdealSteps(pieces, row));
    const std::size_t count = result.rows.back().thresholds.size();
    if (result.has_slope && count <= most) continue;
    if (const Piece* piece = MainPiece(pieces, result.rows.back())) {
      result.has_slope = true;
      result.slope_b = piece->slope;
      most = count;
    }
  }
  return result;
}

std::int64_t Evaluate(const TwoInputProblem& problem, const TwoInputPlan& plan,
                      std::int64_t a, std::int64_t b) {
  Int128 value = 0;
  switch (plan.form) {
    case TwoInputForm::kTable:
      return plan.table[TableIndex(problem, a, b)];
    case TwoInputForm::kMultiply64:
      value = Sum(plan, a, b) >> plan.shift;
      break;
    case TwoInputForm::kHalfEven64:
      value = ShiftHalfEven(Sum(plan, a, b), plan.shift) + plan.zero_point;
      break;
    case TwoInputForm::kRemainder:
      value = DivideHalfEven(Sum(plan, a, b), plan.divisor) + plan.zero_point;
      break;
  }
  if (value < plan.low) return plan.low;
  if (value > plan.high) return plan.high;
  return static_cast<std::int64_t>(value);
}

bool KeepsLimits(const TwoInputProblem& problem, const TwoInputPlan& plan) {
  constexpr std::int64_t kWide = std::int64_t{1} << 62;
  if (plan.form == TwoInputForm::kTable) {
    return CodeCount(problem.b) <= kPairLimit / CodeCount(problem.a) &&
           plan.table.size() == static_cast<std::size_t>(CodeCount(problem.a) *
                                                         CodeCount(problem.b));
  }
  if (plan.low > plan.high || plan.zero_point < -kWide ||
      plan.zero_point > kWide) {
    return false;
  }
  const std::int64_t limit =
      plan.form == TwoInputForm::kRemainder ? kWide : std::int64_t{1} << 31;
  for (const std::int64_t m : {plan.multiplier_a, plan.multiplier_b}) {
    if (m <= -limit || m >= limit) return false;
  }
  if (plan.shift < 0 || plan.shift > 62 || plan.divisor <= 0 ||
      plan.divisor > kWide) {
    return false;
  }
  // The partial sums too, in whatever order a kernel takes them.
  const bool floor = plan.form == TwoInputForm::kMultiply64;
  const Int128 bound = floor ? Int128{INT64_MAX} : Int128{kWide};
  const auto reach = [](const InputCodes& codes, std::int64_t multiplier) {
    const Int128 low = Int128{codes.code_low} * multiplier;
    const Int128 high = Int128{codes.code_high} * multiplier;
    return std::max(low < 0 ? -low : low, high < 0 ? -high : high);
  };
  const Int128 addend = plan.addend;
  return reach(problem.a, plan.multiplier_a) +
             reach(problem.b, plan.multiplier_b) +
             (addend < 0 ? -addend : addend) <=
         bound;
}

bool Verify(const TwoInputProblem& problem, const TwoInputRows& ideal,
            const TwoInputPlan& plan) {
  if (!KeepsLimits(problem, plan)) return false;
  for (std::size_t i = 0; i < ideal.rows.size(); ++i) {
    const std::int64_t a = problem.a.code_low + static_cast<std::int64_t>(i);
    if (!EqualOnRow(problem, plan, a, ideal.rows[i])) return false;
  }
  return true;
}

bool Verify(const TwoInputProblem& problem, const TwoInputPlan& plan) {
  if (CodeCount(problem.b) > kPairLimit / CodeCount(problem.a)) return false;
  return Verify(problem, IdealRows(problem), plan);
}

}  // namespace fold::exact
