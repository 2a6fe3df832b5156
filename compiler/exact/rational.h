// Exact rationals. Every stored float parameter of a model is the real number
// that it encodes (docs/numerics.md), so it enters here without rounding.
#ifndef FOLD_COMPILER_EXACT_RATIONAL_H_
#define FOLD_COMPILER_EXACT_RATIONAL_H_

#include <gmpxx.h>

#include <cstdint>

#include "compiler/exact/int128.h"

namespace fold::exact {

using Integer = mpz_class;
using Rational = mpq_class;

// The value of a finite double (or of a float, float16, bfloat16 widened to
// it). Requires std::isfinite(value).
Rational FromDouble(double value);

Rational FromInt64(std::int64_t value);

// numerator / denominator in lowest terms. Requires denominator != 0.
Rational Fraction(std::int64_t numerator, std::int64_t denominator);

// The double nearest to value, ties to even, with gradual underflow; an
// infinity where a finite double would overflow.
double NearestDouble(const Rational& value);

// The integer nearest to value, ties to even.
Integer RoundHalfEven(const Rational& value);

Integer Floor(const Rational& value);

// value as int64. Requires FitsInt64(value).
bool FitsInt64(const Integer& value);
std::int64_t ToInt64(const Integer& value);

Integer FromInt64ToInteger(std::int64_t value);

// Requires |value| < 2^127.
Int128 ToInt128(const Integer& value);

// value limited to [low, high].
std::int64_t ClampToInt64(const Integer& value, std::int64_t low,
                          std::int64_t high);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_RATIONAL_H_
