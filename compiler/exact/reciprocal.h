// A constant over a quantized input as one fraction a channel:
//   code = clamp(half_even(N / (D * (x - zero point of x))) + zero point)
// What a target's reciprocal with a coefficient computes in whole numbers.
#ifndef FOLD_COMPILER_EXACT_RECIPROCAL_H_
#define FOLD_COMPILER_EXACT_RECIPROCAL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/exact/table_entry.h"

namespace fold::exact {

// |N| <= 2^62 and 1 <= D <= 2^46: with a difference of 16-bit codes the
// product fits 62 bits.
struct ReciprocalChannel {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
};

struct ReciprocalPlan {
  std::vector<ReciprocalChannel> channels;  // one for each problem
  std::int64_t zero_point = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

struct ReciprocalResult {
  std::optional<ReciprocalPlan> plan;  // empty: see refusal
  std::string refusal;                 // names the channel and the reason
};

// The plan with the simplest fractions (least denominators) that gives every
// entry of every table. `problems` are the channels of one op: chains that
// begin with Reciprocal, with equal codes, zero points and code ranges.
// Refused where the steps behind the reciprocal are no scale and clamp, or
// where no fraction within the limits gives every code.
ReciprocalResult ChooseReciprocal(std::span<const TableProblem> problems);

// What a kernel must compute for input code `x`, whose zero point is `x_zero`.
std::int64_t Evaluate(const ReciprocalPlan& plan, std::size_t channel,
                      std::int64_t x, std::int64_t x_zero);

// The fraction of least denominator strictly between `low` and `high`; of
// those, the one nearest to zero. An absent bound is infinite. Requires
// low < high.
Rational SimplestBetween(const std::optional<Rational>& low,
                         const std::optional<Rational>& high);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_RECIPROCAL_H_
