// Division of 128-bit integers to the nearest integer, ties to even.
#ifndef FOLD_COMPILER_EXACT_ROUNDING_H_
#define FOLD_COMPILER_EXACT_ROUNDING_H_

#include <cstdint>

#include "compiler/exact/int128.h"

namespace fold::exact {

// value / 2^shift. Requires 0 <= shift <= 62.
inline Int128 ShiftHalfEven(Int128 value, int shift) {
  if (shift == 0) return value;
  const Int128 floor = value >> shift;
  const Int128 remainder = value - (floor << shift);
  const Int128 half = Int128{1} << (shift - 1);
  const bool odd = (floor & 1) != 0;
  return remainder > half || (remainder == half && odd) ? floor + 1 : floor;
}

// value / divisor. Requires divisor > 0.
inline Int128 DivideHalfEven(Int128 value, std::int64_t divisor) {
  Int128 floor = value / divisor;
  Int128 remainder = value - floor * divisor;
  if (remainder < 0) {
    remainder += divisor;
    --floor;
  }
  const Int128 twice = 2 * remainder;
  const bool odd = (floor & 1) != 0;
  return twice > divisor || (twice == divisor && odd) ? floor + 1 : floor;
}

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_ROUNDING_H_
