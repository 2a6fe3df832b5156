#include "compiler/exact/table_entry.h"

#include <algorithm>
#include <variant>

#include "compiler/exact/exact_value.h"

namespace fold::exact {
namespace {

// value rounded and limited to [low, high], by bisection over the points where
// the rounding steps unless it is half to even of a rational value.
std::int64_t RoundAndLimit(const ExactValue& value, Rounding rounding,
                           std::int64_t low, std::int64_t high) {
  if (rounding == Rounding::kHalfEven && value.numerator.IsRational() &&
      value.denominator.IsRational()) {
    const Rational ratio =
        value.numerator.RationalValue() / value.denominator.RationalValue();
    return ClampToInt64(RoundHalfEven(ratio), low, high);
  }
  while (low < high) {
    const std::int64_t k = low + (high - low + 1) / 2;
    const RoundingStep step = StepTo(rounding, k);
    const int order = CompareWith(value, Fraction(step.twice, 2));
    if (order > 0 || (order == 0 && step.takes)) {
      low = k;
    } else {
      high = k - 1;
    }
  }
  return low;
}

}  // namespace

TableEntry EvaluateChain(const Rational& start,
                         std::span<const ChainStep> steps,
                         const Quantization& quantization) {
  ExactValue value = ApplySteps(start, steps);
  if (value.kind == ValueKind::kFinite) {
    value.numerator *= 1 / quantization.scale;
  }
  const CodeRange range = EffectiveRange(quantization);
  const bool flipped = sgn(quantization.scale) < 0;
  TableEntry entry;
  entry.kind = value.kind;
  switch (value.kind) {
    case ValueKind::kPositiveInfinity:
      entry.code = flipped ? range.low : range.high;
      break;
    case ValueKind::kNegativeInfinity:
      entry.code = flipped ? range.high : range.low;
      break;
    case ValueKind::kNan:
      entry.code = std::clamp(quantization.zero_point, range.low, range.high);
      break;
    case ValueKind::kFinite:
      entry.code = quantization.zero_point +
                   RoundAndLimit(value, quantization.rounding,
                                 range.low - quantization.zero_point,
                                 range.high - quantization.zero_point);
      break;
  }
  return entry;
}

std::vector<TableEntry> EvaluateTable(const TableProblem& problem) {
  std::vector<TableEntry> entries;
  entries.reserve(problem.code_high - problem.code_low + 1);
  for (std::int64_t code = problem.code_low; code <= problem.code_high;
       ++code) {
    const Rational start = FromInt64(code - problem.zero_point) * problem.scale;
    entries.push_back(
        EvaluateChain(start, problem.steps, problem.quantization));
  }
  return entries;
}

std::optional<std::string> FindFault(const TableProblem& problem) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 32;
  for (const std::int64_t value :
       {problem.code_low, problem.code_high, problem.zero_point}) {
    if (value < -kLimit || value > kLimit) {
      return "an input code or zero point lies beyond 2^32";
    }
  }
  if (problem.code_low > problem.code_high ||
      problem.code_high - problem.code_low >= 65536) {
    return "the table has no entry or more than 65,536";
  }
  for (const ChainStep& step : problem.steps) {
    const auto* norm = std::get_if<BatchNorm>(&step);
    if (norm != nullptr && norm->variance + norm->epsilon <= 0) {
      return "variance plus epsilon is not positive";
    }
  }
  return FindFault(problem.quantization);
}

}  // namespace fold::exact
