#include "compiler/exact/rational.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace fold::exact {
namespace {

TEST(Rational, FromDoubleKeepsTheEncodedNumber) {
  EXPECT_EQ(FromDouble(0.1f), Rational("13421773") / Rational("134217728"));
  EXPECT_EQ(FromDouble(-0.5), Fraction(-1, 2));
  const Rational tiny = FromDouble(std::numeric_limits<double>::denorm_min());
  Rational expected = 1;
  mpq_div_2exp(expected.get_mpq_t(), expected.get_mpq_t(), 1074);
  EXPECT_EQ(tiny, expected);
}

TEST(Rational, FractionIsInLowestTermsWithPositiveDenominator) {
  const Rational value = Fraction(6, -4);
  EXPECT_EQ(value.get_num(), -3);
  EXPECT_EQ(value.get_den(), 2);
}

TEST(Rational, RoundHalfEvenTakesTheEvenNeighbour) {
  const struct {
    std::int64_t numerator, denominator, rounded;
  } cases[] = {{5, 2, 2},   {7, 2, 4},  {-5, 2, -2}, {-7, 2, -4}, {1, 2, 0},
               {-1, 2, 0},  {3, 2, 2},  {-3, 2, -2}, {1, 3, 0},   {2, 3, 1},
               {-2, 3, -1}, {11, 4, 3}, {9, 4, 2},   {-9, 4, -2}, {4, 1, 4}};
  for (const auto& c : cases) {
    EXPECT_EQ(RoundHalfEven(Fraction(c.numerator, c.denominator)), c.rounded)
        << c.numerator << "/" << c.denominator;
  }
}

TEST(Rational, NearestDoubleInvertsFromDouble) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double value;
    static_assert(sizeof(value) == sizeof(bits));
    __builtin_memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(NearestDouble(FromDouble(value)), value);
  }
}

TEST(Rational, NearestDoubleRoundsHalfEvenAlsoBelowTheNormalRange) {
  const double one = 1, next = std::nextafter(1.0, 2.0);
  const Rational half_step = (FromDouble(next) - FromDouble(one)) / 2;
  const Rational speck = half_step / 1000000;
  EXPECT_EQ(NearestDouble(Rational(FromDouble(one) + half_step)), one);
  EXPECT_EQ(NearestDouble(Rational(FromDouble(one) + half_step + speck)), next);
  EXPECT_EQ(NearestDouble(Rational(FromDouble(next) + half_step)),
            std::nextafter(next, 2.0));
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(NearestDouble(Rational(FromDouble(least) / 2)), 0);
  EXPECT_EQ(NearestDouble(Rational(FromDouble(least) * 3 / 2)), 2 * least);
  EXPECT_EQ(NearestDouble(Rational(FromDouble(least) * 5 / 8)), least);
  // Rounding to 53 bits first would make this a tie.
  const Rational below =
      FromDouble(least) * 3 / 2 - FromDouble(least) / (Integer(1) << 80);
  EXPECT_EQ(NearestDouble(below), least);
}

TEST(Rational, NearestDoubleOverflowsOnlyBeyondTheHalfStep) {
  const double most = std::numeric_limits<double>::max();
  const Rational step = FromDouble(most) - FromDouble(std::nextafter(most, 0));
  EXPECT_EQ(NearestDouble(Rational(FromDouble(most) + step / 3)), most);
  EXPECT_EQ(NearestDouble(Rational(FromDouble(most) + step / 2)),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(NearestDouble(Rational(-FromDouble(most) * 4)),
            -std::numeric_limits<double>::infinity());
}

TEST(Rational, AgreesWithCorrectlyRoundedDivision) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    const auto a = static_cast<std::int64_t>(random() >> 12);
    const auto b = static_cast<std::int64_t>(random() >> 12) + 1;
    EXPECT_EQ(NearestDouble(Fraction(a, b)),
              static_cast<double>(a) / static_cast<double>(b));
  }
}

TEST(Rational, ClampToInt64HandlesAnyMagnitude) {
  const Integer huge = Integer(1) << 200;
  EXPECT_EQ(ClampToInt64(huge, -3, 5), 5);
  EXPECT_EQ(ClampToInt64(-huge, -3, 5), -3);
  EXPECT_EQ(ClampToInt64(Integer(4), -3, 5), 4);
  EXPECT_FALSE(FitsInt64(Integer(1) << 63));
  EXPECT_TRUE(FitsInt64(-(Integer(1) << 63)));
}

TEST(Rational, ToInt128KeepsBothLimbsAndTheSign) {
  EXPECT_TRUE(ToInt128(Integer(-7)) == -7);
  const Integer wide = (Integer(5) << 100) + 3;
  const Int128 expected = (Int128{5} << 100) + 3;
  EXPECT_TRUE(ToInt128(wide) == expected);
  EXPECT_TRUE(ToInt128(-wide) == -expected);
  EXPECT_TRUE(ToInt128(Integer(1) << 63) == Int128{1} << 63);
}

}  // namespace
}  // namespace fold::exact
