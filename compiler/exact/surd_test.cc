#include "compiler/exact/surd.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fold::exact {
namespace {

Surd Root(long radicand) { return Surd::SquareRoot(Rational(radicand)); }

TEST(Surd, PerfectSquaresAreRational) {
  EXPECT_TRUE(Root(9).IsRational());
  EXPECT_EQ(Root(9).RationalValue(), 3);
  EXPECT_EQ(Surd::SquareRoot(Fraction(49, 16)).RationalValue(), Fraction(7, 4));
  EXPECT_FALSE(Root(2).IsRational());
  EXPECT_EQ((Root(2) * Root(8)).RationalValue(), 4);
}

TEST(Surd, RootsOfOneSquareClassMerge) {
  // sqrt(18) - 3 sqrt(2) = 0, and sqrt(1/2) = sqrt(2) / 2.
  Surd three_roots = Root(2);
  three_roots *= Rational(3);
  EXPECT_TRUE((Root(18) - three_roots).IsZero());
  Surd half = Root(2);
  half *= Fraction(1, 2);
  EXPECT_TRUE((Surd::SquareRoot(Fraction(1, 2)) - half).IsZero());
  EXPECT_EQ((Root(2) + Root(3)).terms().size(), 2u);
}

TEST(Surd, SignDecidesVeryCloseSums) {
  // The famous sums that agree to many digits.
  const Surd close = Root(10) + Root(11) - Root(5) - Root(18);
  EXPECT_EQ(close.Sign(), 1);
  Surd pell = Root(2);  // p / q with p^2 - 2 q^2 = ±1, 60 decimal digits
  Rational p = 1, q = 1;
  int parity = -1;
  for (int i = 0; i < 160; ++i) {
    const Rational next = p + 2 * q;
    q = p + q;
    p = next;
    parity = -parity;
  }
  EXPECT_EQ((Surd(p / q) - pell).Sign(), parity);
  EXPECT_EQ((pell - Surd(p / q)).Sign(), -parity);
}

TEST(Surd, SignWithSeveralNegativeTerms) {
  // A lattice point of 130 bits on either side of sqrt(a) + sqrt(b).
  for (const long a : {2, 3, 5, 7, 11}) {
    for (const long b : {13, 17, 19, 23}) {
      const Surd sum = Root(a) + Root(b);
      bool exact;
      const Integer floor = sum.FloorScaled(130, &exact);
      const Rational unit = Rational(1) / (Integer(1) << 130);
      EXPECT_EQ((Surd(floor * unit) - sum).Sign(), -1);
      EXPECT_EQ((Surd((floor + 1) * unit) - sum).Sign(), 1);
    }
  }
}

TEST(Surd, InverseOfATerm) {
  Surd term = Root(5);
  term *= Fraction(-2, 7);
  EXPECT_EQ((term * term.Inverse()).RationalValue(), 1);
}

TEST(Surd, TimesOneOfItsCoefficients) {
  Surd sum = Surd(Rational(3)) + Root(2);
  sum *= sum.terms()[0].coefficient;
  EXPECT_EQ(Compare(sum, Surd(Rational(9)) + Root(18)), 0);
}

TEST(Surd, FloorScaledMatchesIntegerRoots) {
  bool exact;
  EXPECT_EQ(Root(2).FloorScaled(0, &exact), 1);
  EXPECT_FALSE(exact);
  Surd negative = Root(2);
  negative *= Rational(-1);
  EXPECT_EQ(negative.FloorScaled(0, &exact), -2);
  EXPECT_EQ(Root(2).FloorScaled(100, &exact),
            Integer(sqrt(Integer(Integer(2) << 200))));
  EXPECT_EQ(Surd(Fraction(-7, 4)).FloorScaled(2, &exact), -7);
  EXPECT_TRUE(exact);
  EXPECT_EQ(Surd(Fraction(-7, 4)).FloorScaled(1, &exact), -4);
  EXPECT_FALSE(exact);
  EXPECT_EQ(Surd().FloorScaled(5, &exact), 0);
  EXPECT_TRUE(exact);
}

TEST(Surd, CompareOrdersMixedSums) {
  // 3.1463 against 3.1429.
  EXPECT_EQ(Compare(Root(2) + Root(3), Surd(Fraction(22, 7))), 1);
  EXPECT_EQ(Compare(Root(6), Root(2) * Root(3)), 0);
  EXPECT_LT(Compare(Surd(Rational(-1)), Surd()), 0);
}

TEST(Surd, AddingAndSubtractingItself) {
  Surd value = Root(2) + Surd(Rational(1));
  value += value;
  EXPECT_EQ(Compare(value, Root(8) + Surd(Rational(2))), 0);
  value -= value;
  EXPECT_TRUE(value.IsZero());
}

TEST(Surd, NearestDoubleOfRoots) {
  // sqrt of IEEE arithmetic is correctly rounded.
  bool exact;
  for (int n = 2; n < 500; ++n) {
    EXPECT_EQ(NearestDouble(Root(n), &exact), std::sqrt(double{1} * n));
    const double root = std::round(std::sqrt(double{1} * n));
    EXPECT_EQ(exact, root * root == n) << n;
  }
  EXPECT_EQ(NearestDouble(Surd(Fraction(1, 3)), &exact), 1.0 / 3.0);
  EXPECT_FALSE(exact);
}

}  // namespace
}  // namespace fold::exact
