#include "compiler/exact/form_search.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "compiler/exact/int128.h"
#include "compiler/exact/surd.h"

namespace fold::exact {
namespace {

// What a kernel of a multiply form can hold, and where the search starts.
struct MultiplyLimits {
  int lowest_bits;   // of the first multiplier that is tried
  int highest_bits;  // |M| < 2^highest_bits
  int highest_shift;
  Int128 sum_limit;  // |acc * M + C| <= sum_limit
};

constexpr Int128 kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr MultiplyLimits kLimits64 = {7, 31, 62, kInt64Max};
// Leaves room for the doubling of half-even parameters.
constexpr MultiplyLimits kLimitsHalfEven = {7, 30, 61, Int128{1} << 60};
constexpr MultiplyLimits kLimits128 = {24, 62, 100, Int128{1} << 126};
// Nearest multiplier first, then its neighbours.
constexpr int kNeighbours[] = {0, 1, -1, 2, -2};

FormParameters EmptyParameters(const FormSearchInput& input) {
  FormParameters parameters;
  parameters.low = input.low;
  parameters.high = input.high;
  return parameters;
}

// The steps in a coordinate x = acc or x = -acc in which they ascend:
// code(x) >= first_code + 1 + i if and only if x >= thresholds[i].
struct AscendingSteps {
  std::vector<std::int64_t> thresholds;
  std::int64_t x_low, x_high;
  std::int64_t lowest_code, highest_code;
};

AscendingSteps Ascending(const StepFunction& ideal) {
  if (ideal.increasing) {
    return {ideal.thresholds, ideal.acc_low, ideal.acc_high, ideal.first_code,
            ideal.LastCode()};
  }
  AscendingSteps steps;
  steps.thresholds.reserve(ideal.thresholds.size());
  for (auto it = ideal.thresholds.rbegin(); it != ideal.thresholds.rend();
       ++it) {
    steps.thresholds.push_back(1 - *it);
  }
  steps.x_low = -ideal.acc_high;
  steps.x_high = -ideal.acc_low;
  steps.lowest_code = ideal.LastCode();
  steps.highest_code = ideal.first_code;
  return steps;
}

// Searches (M, C, S) of floor((x * M + C) / 2^S), M > 0, on ascending steps.
// For given M and S, threshold x of code k demands
//   k 2^S <= x M + C   and   (x - 1) M + C < k 2^S,
// so with L = k 2^S - x M over all thresholds, C lies in
//   [max L, min L + M - 1], which is all there is to check.
class MultiplySearch {
 public:
  MultiplySearch(const FormSearchInput& input, const MultiplyLimits& limits)
      : input_(input), limits_(limits), steps_(Ascending(*input.ideal)) {}

  std::optional<FormParameters> Run(int* candidates_tried) {
    const Int128 slope = ScaledSlope();
    int slope_bits = 0;
    while (slope >> slope_bits != 0) ++slope_bits;
    // M at shift S has about slope_bits - highest_shift + S bits.
    const int free_bits = slope_bits - limits_.highest_shift;
    const int last =
        std::min(limits_.highest_shift, limits_.highest_bits - free_bits);
    const int first = std::clamp(limits_.lowest_bits - free_bits, 0, last);
    for (int shift = first; shift <= last; ++shift) {
      const Int128 nearest = RoundedShift(slope, limits_.highest_shift - shift);
      for (const int delta : kNeighbours) {
        const Int128 multiplier = nearest + delta;
        if (multiplier <= 0 || multiplier >> limits_.highest_bits != 0) {
          continue;
        }
        ++*candidates_tried;
        auto found = Try(static_cast<std::int64_t>(multiplier), shift);
        if (found) return found;
      }
    }
    return std::nullopt;
  }

 private:
  // |slope| * 2^highest_shift, rounded down. Beyond one whole code range per
  // step of x, a steeper slope changes nothing; the cap keeps M small. It also
  // stands in where only constant pieces are left and code changes between.
  Int128 ScaledSlope() const {
    const Integer cap = FromInt64ToInteger(input_.high - input_.low + 1)
                        << limits_.highest_shift;
    if (input_.main_piece == nullptr) return ToInt128(cap);
    Surd slope = input_.main_piece->slope;
    if (slope.Sign() < 0) slope *= Rational(-1);
    bool ignored;
    const Integer scaled = slope.FloorScaled(limits_.highest_shift, &ignored);
    return ToInt128(scaled < cap ? scaled : cap);
  }

  static Int128 RoundedShift(Int128 value, int bits) {
    if (bits == 0) return value;
    return (value + (Int128{1} << (bits - 1))) >> bits;
  }

  std::optional<FormParameters> Try(std::int64_t multiplier, int shift) const {
    Int128 lowest = 0, highest = 0;
    if (!AddendRange(multiplier, shift, &lowest, &highest)) {
      return std::nullopt;
    }
    FormParameters parameters = EmptyParameters(input_);
    parameters.multiplier = input_.ideal->increasing ? multiplier : -multiplier;
    parameters.addend = lowest + (highest - lowest) / 2;
    parameters.shift = shift;
    for (const std::int64_t x : {steps_.x_low, steps_.x_high}) {
      const Int128 sum = Int128{x} * multiplier + parameters.addend;
      if (sum < -limits_.sum_limit || sum > limits_.sum_limit) {
        return std::nullopt;
      }
    }
    if (parameters.addend < -limits_.sum_limit ||
        parameters.addend > limits_.sum_limit) {
      return std::nullopt;
    }
    return parameters;
  }

  bool AddendRange(std::int64_t multiplier, int shift, Int128* lowest,
                   Int128* highest) const {
    const auto bound = [=](std::int64_t code, std::int64_t x) {
      return (Int128{code} << shift) - Int128{x} * multiplier;
    };
    const std::vector<std::int64_t>& thresholds = steps_.thresholds;
    Int128 most = bound(steps_.lowest_code + 1, thresholds.front());
    Int128 least = most;
    Int128 top = Int128{1} << 126;
    // The ends of the range, where no clamp hides what lies beyond.
    if (steps_.lowest_code > input_.low) {
      most = std::max(most, bound(steps_.lowest_code, steps_.x_low));
    }
    if (steps_.highest_code < input_.high) {
      top = bound(steps_.highest_code + 1, steps_.x_high);
    }
    // A stride first: a wrong slope shows far away, not next door.
    constexpr std::size_t kStride = 16;
    for (std::size_t start = 0; start < kStride; ++start) {
      for (std::size_t i = start; i < thresholds.size(); i += kStride) {
        const Int128 value =
            bound(steps_.lowest_code + 1 + static_cast<std::int64_t>(i),
                  thresholds[i]);
        most = std::max(most, value);
        least = std::min(least, value);
      }
      if (most > std::min(top, least + multiplier) - 1) return false;
    }
    *lowest = most;
    *highest = std::min(top, least + multiplier) - 1;
    return true;
  }

  const FormSearchInput& input_;
  const MultiplyLimits& limits_;
  const AscendingSteps steps_;
};

// The same code for every accumulator.
FormParameters ConstantForm(RequantForm form, const FormSearchInput& input) {
  FormParameters parameters = EmptyParameters(input);
  parameters.addend = input.ideal->first_code;
  if (form == RequantForm::kHalfEven64 || form == RequantForm::kRemainder) {
    parameters.zero_point = input.zero_point;
    parameters.addend -= input.zero_point;
  }
  return parameters;
}

// floor(t / 2^S) = rhe((2 t + 1 - 2^S) / 2^(S + 1)): the numerator is odd for
// S > 0 and never halfway.
std::optional<FormParameters> FloorAsHalfEven(const FormSearchInput& input,
                                              int* candidates_tried) {
  auto found = MultiplySearch(input, kLimitsHalfEven).Run(candidates_tried);
  if (!found) return std::nullopt;
  const Int128 one = Int128{1} << found->shift;
  found->addend -= input.zero_point * one;
  found->zero_point = input.zero_point;
  found->multiplier *= 2;
  found->addend = 2 * found->addend + 1 - one;
  found->shift += 1;
  return found;
}

// The chain itself over a common denominator, where it is rational.
struct ExactRatio {
  Integer multiplier, addend, divisor;
};

std::optional<ExactRatio> RatioOf(const FormSearchInput& input) {
  if (input.main_piece == nullptr) return std::nullopt;
  const Piece& piece = *input.main_piece;
  if (!piece.slope.IsRational() || !piece.offset.IsRational()) {
    return std::nullopt;
  }
  const Rational slope = piece.slope.RationalValue();
  const Rational offset = piece.offset.RationalValue();
  ExactRatio ratio;
  ratio.divisor = lcm(slope.get_den(), offset.get_den());
  ratio.multiplier = slope.get_num() * (ratio.divisor / slope.get_den());
  ratio.addend = offset.get_num() * (ratio.divisor / offset.get_den());
  if (!FitsInt64(ratio.multiplier) || !FitsInt64(ratio.addend)) {
    return std::nullopt;
  }
  return ratio;
}

std::optional<FormParameters> ExactHalfEven(const FormSearchInput& input) {
  const auto ratio = RatioOf(input);
  if (!ratio || mpz_popcount(ratio->divisor.get_mpz_t()) != 1) {
    return std::nullopt;
  }
  FormParameters parameters = EmptyParameters(input);
  parameters.multiplier = ToInt64(ratio->multiplier);
  parameters.addend = ToInt64(ratio->addend);
  parameters.shift = static_cast<int>(mpz_scan1(ratio->divisor.get_mpz_t(), 0));
  parameters.zero_point = input.zero_point;
  return parameters;
}

std::optional<FormParameters> ExactRemainder(const FormSearchInput& input) {
  const auto ratio = RatioOf(input);
  if (!ratio || !FitsInt64(ratio->divisor)) return std::nullopt;
  FormParameters parameters = EmptyParameters(input);
  parameters.multiplier = ToInt64(ratio->multiplier);
  parameters.addend = ToInt64(ratio->addend);
  parameters.divisor = ToInt64(ratio->divisor);
  parameters.zero_point = input.zero_point;
  return parameters;
}

std::optional<FormParameters> Proved(RequantForm form,
                                     const FormSearchInput& input,
                                     std::optional<FormParameters> parameters) {
  if (parameters && Verify(*input.ideal, form, *parameters)) return parameters;
  return std::nullopt;
}

std::optional<FormParameters> FindHalfEven(const FormSearchInput& input,
                                           int* candidates_tried) {
  ++*candidates_tried;
  auto found = Proved(RequantForm::kHalfEven64, input, ExactHalfEven(input));
  if (found) return found;
  return Proved(RequantForm::kHalfEven64, input,
                FloorAsHalfEven(input, candidates_tried));
}

std::optional<FormParameters> FindRemainder(const FormSearchInput& input,
                                            int* candidates_tried) {
  ++*candidates_tried;
  auto found = Proved(RequantForm::kRemainder, input, ExactRemainder(input));
  if (found) return found;
  // A half-even form is a remainder form by a power of two.
  found = FindHalfEven(input, candidates_tried);
  if (!found) return std::nullopt;
  found->divisor = std::int64_t{1} << found->shift;
  found->shift = 0;
  return Proved(RequantForm::kRemainder, input, std::move(found));
}

FormParameters ThresholdForm(const FormSearchInput& input) {
  FormParameters parameters = EmptyParameters(input);
  parameters.increasing = input.ideal->increasing;
  parameters.first_code = input.ideal->first_code;
  parameters.thresholds = input.ideal->thresholds;
  return parameters;
}

}  // namespace

std::optional<FormParameters> FindForm(RequantForm form,
                                       const FormSearchInput& input,
                                       int* candidates_tried) {
  if (form == RequantForm::kThresholds) {
    ++*candidates_tried;
    return Proved(form, input, ThresholdForm(input));
  }
  if (input.ideal->thresholds.empty()) {
    ++*candidates_tried;
    return Proved(form, input, ConstantForm(form, input));
  }
  switch (form) {
    case RequantForm::kHalfEven64:
      return FindHalfEven(input, candidates_tried);
    case RequantForm::kRemainder:
      return FindRemainder(input, candidates_tried);
    case RequantForm::kMultiply64:
      return Proved(form, input,
                    MultiplySearch(input, kLimits64).Run(candidates_tried));
    case RequantForm::kMultiply128:
      return Proved(form, input,
                    MultiplySearch(input, kLimits128).Run(candidates_tried));
    case RequantForm::kThresholds:
      break;
  }
  return std::nullopt;
}

}  // namespace fold::exact
