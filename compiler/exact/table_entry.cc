#include "compiler/exact/table_entry.h"

#include <algorithm>
#include <variant>

#include "compiler/exact/exact_value.h"

namespace fold::exact {
namespace {

// value rounded half to even and limited to [low, high], by bisection over the
// half-way points when the value is not rational.
std::int64_t RoundAndLimit(const ExactValue& value, std::int64_t low,
                           std::int64_t high) {
  if (value.numerator.IsRational() && value.denominator.IsRational()) {
    const Rational ratio =
        value.numerator.RationalValue() / value.denominator.RationalValue();
    return ClampToInt64(RoundHalfEven(ratio), low, high);
  }
  while (low < high) {
    const std::int64_t k = low + (high - low + 1) / 2;
    const int order = CompareWith(value, Fraction(2 * k - 1, 2));
    if (order > 0 || (order == 0 && k % 2 == 0)) {
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
                   RoundAndLimit(value, range.low - quantization.zero_point,
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
