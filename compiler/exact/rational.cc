#include "compiler/exact/rational.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace fold::exact {

static_assert(sizeof(long) == sizeof(std::int64_t));

Rational FromDouble(double value) { return Rational(value); }

Rational FromInt64(std::int64_t value) {
  return Rational(static_cast<long>(value));
}

Integer FromInt64ToInteger(std::int64_t value) {
  return Integer(static_cast<long>(value));
}

Rational Fraction(std::int64_t numerator, std::int64_t denominator) {
  Rational value(FromInt64ToInteger(numerator),
                 FromInt64ToInteger(denominator));
  value.canonicalize();
  return value;
}

Integer Floor(const Rational& value) {
  Integer quotient;
  mpz_fdiv_q(quotient.get_mpz_t(), value.get_num_mpz_t(),
             value.get_den_mpz_t());
  return quotient;
}

Integer RoundHalfEven(const Rational& value) {
  Integer quotient, remainder;
  mpz_fdiv_qr(quotient.get_mpz_t(), remainder.get_mpz_t(),
              value.get_num_mpz_t(), value.get_den_mpz_t());
  remainder *= 2;
  const int order = cmp(remainder, value.get_den());
  if (order > 0 || (order == 0 && mpz_odd_p(quotient.get_mpz_t()))) ++quotient;
  return quotient;
}

double NearestDouble(const Rational& value) {
  if (sgn(value) == 0) return 0;
  const Rational magnitude = abs(value);
  // 2^(bits - 1) < magnitude < 2^(bits + 1), so 54 or 55 bits remain below
  // after scaling by the first guess; one step down corrects it.
  const long bits =
      static_cast<long>(mpz_sizeinbase(magnitude.get_num_mpz_t(), 2)) -
      static_cast<long>(mpz_sizeinbase(magnitude.get_den_mpz_t(), 2));
  long exponent = bits - 53;  // weight of the last place
  const auto scaled = [&magnitude](long weight) {
    Rational result = magnitude;
    if (weight >= 0) {
      mpq_div_2exp(result.get_mpq_t(), result.get_mpq_t(), weight);
    } else {
      mpq_mul_2exp(result.get_mpq_t(), result.get_mpq_t(), -weight);
    }
    return result;
  };
  const Integer limit = Integer(1) << 53;
  while (scaled(exponent) >= limit) ++exponent;
  while (scaled(exponent) < limit / 2) --exponent;
  constexpr long kLowestWeight = -1074;
  if (exponent < kLowestWeight) exponent = kLowestWeight;
  if (exponent > 1024) exponent = 1024;
  const Integer mantissa = RoundHalfEven(scaled(exponent));
  // A mantissa of at most 2^53 converts exactly; ldexp rounds nothing here.
  const double result =
      mantissa > limit
          ? std::numeric_limits<double>::infinity()
          : std::ldexp(mantissa.get_d(), static_cast<int>(exponent));
  return sgn(value) < 0 ? -result : result;
}

bool FitsInt64(const Integer& value) { return value.fits_slong_p(); }

std::int64_t ToInt64(const Integer& value) { return value.get_si(); }

std::int64_t ClampToInt64(const Integer& value, std::int64_t low,
                          std::int64_t high) {
  if (cmp(value, static_cast<long>(low)) < 0) return low;
  if (cmp(value, static_cast<long>(high)) > 0) return high;
  return value.get_si();
}

Int128 ToInt128(const Integer& value) {
  const Integer magnitude = abs(value);
  const Integer high = magnitude >> 64;
  const Integer low = magnitude - (high << 64);
  const Int128 result = static_cast<Int128>((Uint128{high.get_ui()} << 64) |
                                            Uint128{low.get_ui()});
  return sgn(value) < 0 ? -result : result;
}

}  // namespace fold::exact
