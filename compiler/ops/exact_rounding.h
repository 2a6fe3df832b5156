// Division of stored floats, rounded half to even, without a rounding before
// it: what a QuantizeLinear of a constant gives.
#ifndef FOLD_COMPILER_OPS_EXACT_ROUNDING_H_
#define FOLD_COMPILER_OPS_EXACT_ROUNDING_H_

#include <cmath>
#include <cstdint>

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

}  // namespace fold

#endif  // FOLD_COMPILER_OPS_EXACT_ROUNDING_H_
