// Division of stored floats, rounded half to even, without a rounding before
// it: what a QuantizeLinear of a constant gives.
#ifndef FOLD_COMPILER_OPS_EXACT_ROUNDING_H_
#define FOLD_COMPILER_OPS_EXACT_ROUNDING_H_

#include <cmath>
#include <cstdint>

#include "compiler/base/rounding.h"

namespace fold {

// The integer nearest to x / scale, ties to even, clamped to ±2^40. NaN gives
// 0. Exact for x and scale that are float32 (or narrower) numbers: then
// x - q * scale is a double without rounding, since it is a multiple of the
// smaller of the two units and at most a few scales.
inline int64_t DivideToNearest(double x, double scale) {
  constexpr double kLimit = 1099511627776.0;
  const double estimate = x / scale;
  if (std::isnan(estimate)) return 0;
  if (estimate >= kLimit) return static_cast<int64_t>(kLimit);
  if (estimate <= -kLimit) return -static_cast<int64_t>(kLimit);
  double q = std::nearbyint(estimate);
  const double half = std::fabs(scale) / 2;
  // Signed so that a positive remainder asks for a larger q.
  const double sign = scale < 0 ? -1.0 : 1.0;
  const double remainder = std::fma(-q, scale, x) * sign;
  const bool odd = std::fmod(q, 2.0) != 0;
  if (remainder > half || (remainder == half && odd)) q += 1;
  if (remainder < -half || (remainder == -half && odd)) q -= 1;
  return static_cast<int64_t>(q);
}

// x / scale rounded as told; the same limits, and scale > 0.
inline int64_t DivideAndRound(double x, double scale, Rounding rounding) {
  int64_t k = DivideToNearest(x, scale);
  if (rounding == Rounding::kHalfEven) return k;
  if (rounding == Rounding::kSign) return x >= 0 ? 1 : -1;
  // The other roundings step at most one code away from the nearest: at
  // quotients twice / 2, compared with x without rounding.
  const auto reaches = [&](int64_t code) {
    const RoundingStep step = StepTo(rounding, code);
    const double rest =
        std::fma(-static_cast<double>(step.twice) / 2, scale, x);
    return rest > 0 || (rest == 0 && step.takes);
  };
  while (reaches(k + 1)) ++k;
  while (!reaches(k)) --k;
  return k;
}

}  // namespace fold

#endif  // FOLD_COMPILER_OPS_EXACT_ROUNDING_H_
