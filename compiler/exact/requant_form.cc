#include "compiler/exact/requant_form.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "compiler/exact/rounding.h"

namespace fold::exact {
namespace {

constexpr Int128 kSumLimit = Int128{1} << 62;
constexpr Int128 kWideSumLimit = Int128{1} << 126;

std::int64_t Clamp(Int128 value, const FormParameters& parameters) {
  if (value < parameters.low) return parameters.low;
  if (value > parameters.high) return parameters.high;
  return static_cast<std::int64_t>(value);
}

Int128 Sum(const FormParameters& parameters, std::int64_t acc) {
  return Int128{acc} * parameters.multiplier + parameters.addend;
}

// The value that the clamp sees.
Int128 BeforeClamp(RequantForm form, const FormParameters& parameters,
                   std::int64_t acc) {
  const Int128 sum = Sum(parameters, acc);
  switch (form) {
    case RequantForm::kHalfEven64:
      return ShiftHalfEven(sum, parameters.shift) + parameters.zero_point;
    case RequantForm::kRemainder:
      return DivideHalfEven(sum, parameters.divisor) + parameters.zero_point;
    case RequantForm::kMultiply64:
    case RequantForm::kMultiply128:
    case RequantForm::kThresholds:
      break;
  }
  return sum >> parameters.shift;
}

bool SumsWithin(const FormParameters& parameters, std::int64_t acc_low,
                std::int64_t acc_high, Int128 low, Int128 high) {
  for (const std::int64_t acc : {acc_low, acc_high}) {
    Int128 sum;
    if (__builtin_add_overflow(Int128{acc} * parameters.multiplier,
                               parameters.addend, &sum)) {
      return false;
    }
    if (sum < low || sum > high) return false;
  }
  return true;
}

// The sum is monotone in acc, so its ends bound it.
bool KeepsLimits(RequantForm form, const FormParameters& p,
                 std::int64_t acc_low, std::int64_t acc_high) {
  constexpr std::int64_t kWide = std::int64_t{1} << 62;
  constexpr std::int64_t kNarrow = std::int64_t{1} << 31;
  if (form == RequantForm::kThresholds) {
    return std::is_sorted(p.thresholds.begin(), p.thresholds.end());
  }
  if (p.low > p.high || p.zero_point < -kWide || p.zero_point > kWide) {
    return false;
  }
  const bool wide =
      form == RequantForm::kMultiply128 || form == RequantForm::kRemainder;
  const std::int64_t limit = wide ? kWide : kNarrow;
  if (p.multiplier <= -limit || p.multiplier >= limit) return false;
  if (form == RequantForm::kMultiply128) {
    return p.shift >= 0 && p.shift <= 126 &&
           SumsWithin(p, acc_low, acc_high, -kWideSumLimit, kWideSumLimit);
  }
  if (!FitsInt64(p.addend)) return false;
  if (form == RequantForm::kRemainder) {
    if (p.divisor <= 0 || p.divisor > kWide) return false;
  } else if (p.shift < 0 || p.shift > 62) {
    return false;
  }
  if (form == RequantForm::kMultiply64) {
    return SumsWithin(p, acc_low, acc_high, INT64_MIN, INT64_MAX);
  }
  return SumsWithin(p, acc_low, acc_high, -kSumLimit, kSumLimit);
}

std::int64_t EvaluateSorted(RequantForm form, const FormParameters& parameters,
                            std::int64_t acc) {
  if (form != RequantForm::kThresholds) {
    return Clamp(BeforeClamp(form, parameters, acc), parameters);
  }
  const std::int64_t count =
      std::upper_bound(parameters.thresholds.begin(),
                       parameters.thresholds.end(), acc) -
      parameters.thresholds.begin();
  return parameters.increasing ? parameters.first_code + count
                               : parameters.first_code - count;
}

}  // namespace

std::string_view Name(RequantForm form) {
  static constexpr std::array<std::string_view, kRequantFormCount> kNames = {
      "multiply64", "half_even64", "remainder", "multiply128", "thresholds"};
  return kNames[static_cast<std::size_t>(form)];
}

std::int64_t Evaluate(RequantForm form, const FormParameters& parameters,
                      std::int64_t acc) {
  return EvaluateSorted(form, parameters, acc);
}

bool Verify(const StepFunction& ideal, RequantForm form,
            const FormParameters& parameters) {
  if (!KeepsLimits(form, parameters, ideal.acc_low, ideal.acc_high)) {
    return false;
  }
  const auto equal_at = [&](std::int64_t acc, std::int64_t code) {
    return EvaluateSorted(form, parameters, acc) == code;
  };
  // Both sides are monotone. Where the ideal is constant from one of these
  // points to the next and the form agrees on both, it is constant too.
  if (!equal_at(ideal.acc_low, ideal.first_code) ||
      !equal_at(ideal.acc_high, ideal.LastCode())) {
    return false;
  }
  std::int64_t code = ideal.first_code;
  const std::vector<std::int64_t>& thresholds = ideal.thresholds;
  for (std::size_t i = 0; i < thresholds.size();) {
    const std::int64_t acc = thresholds[i];
    if (!equal_at(acc - 1, code)) return false;
    for (; i < thresholds.size() && thresholds[i] == acc; ++i) {
      code += ideal.increasing ? 1 : -1;
    }
    if (!equal_at(acc, code)) return false;
  }
  return true;
}

bool Verify(const ChannelProblem& problem, RequantForm form,
            const FormParameters& parameters) {
  return Verify(IdealSteps(problem), form, parameters);
}

bool FitsInt32BeforeClamp(RequantForm form, const FormParameters& parameters,
                          std::int64_t acc_low, std::int64_t acc_high) {
  if (form == RequantForm::kThresholds) return true;
  return FitsInt32(BeforeClamp(form, parameters, acc_low)) &&
         FitsInt32(BeforeClamp(form, parameters, acc_high));
}

}  // namespace fold::exact
