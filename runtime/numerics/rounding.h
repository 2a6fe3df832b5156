// From a quotient to a whole number, in the ways that a QUANTIZE op may state.
#ifndef RUNTIME_NUMERICS_ROUNDING_H_
#define RUNTIME_NUMERICS_ROUNDING_H_

#include <cmath>
#include <cstdint>

namespace fold::kernels {

// In the order of Rounding in runtime/format/fold.fbs.
enum class Rounding : uint8_t {
  kHalfEven,
  kHalfOdd,
  kHalfFromZero,
  kHalfToZero,
  kHalfUp,
  kFloor,
  kCeil,
  kFromZero,
  kToZero,
  kSign,  // 1 for q >= 0 (also -0), else -1
};
constexpr int kRoundingCount = 10;

// q finite, |q| <= 2^31. The floor and the rest above it are exact.
inline double RoundQuotient(Rounding rounding, double q) {
  const double floor = std::floor(q);
  const double rest = q - floor;
  const bool odd = std::fmod(floor, 2.0) != 0;
  const bool negative = q < 0;
  bool up = false;
  switch (rounding) {
    case Rounding::kHalfEven:
      up = rest > 0.5 || (rest == 0.5 && odd);
      break;
    case Rounding::kHalfOdd:
      up = rest > 0.5 || (rest == 0.5 && !odd);
      break;
    case Rounding::kHalfFromZero:
      up = rest > 0.5 || (rest == 0.5 && !negative);
      break;
    case Rounding::kHalfToZero:
      up = rest > 0.5 || (rest == 0.5 && negative);
      break;
    case Rounding::kHalfUp:
      up = rest >= 0.5;
      break;
    case Rounding::kFloor:
      break;
    case Rounding::kCeil:
      up = rest > 0;
      break;
    case Rounding::kFromZero:
      up = rest > 0 && !negative;
      break;
    case Rounding::kToZero:
      up = rest > 0 && negative;
      break;
    case Rounding::kSign:
      return negative ? -1.0 : 1.0;
  }
  return up ? floor + 1 : floor;
}

}  // namespace fold::kernels

#endif  // RUNTIME_NUMERICS_ROUNDING_H_
