#include "compiler/check/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fold::check {
namespace {

Number Fraction(int64_t n, int64_t d) { return Number(n) / Number(d); }

TEST(NumberTest, RoundsHalfToEven) {
  EXPECT_EQ(Fraction(5, 2).RoundHalfEven(), 2);
  EXPECT_EQ(Fraction(7, 2).RoundHalfEven(), 4);
  EXPECT_EQ(Fraction(-5, 2).RoundHalfEven(), -2);
  EXPECT_EQ(Fraction(-7, 2).RoundHalfEven(), -4);
  EXPECT_EQ(Fraction(-8, 3).RoundHalfEven(), -3);
  EXPECT_EQ(Fraction(1, 3).RoundHalfEven(), 0);
}

TEST(NumberTest, FloorAndSignOfRootsAreExact) {
  const Number root = Number::SquareRoot(Number(2));
  EXPECT_EQ(root.Floor(), 1);
  EXPECT_EQ((-root).Floor(), -2);
  EXPECT_EQ((-root).Ceil(), -1);
  // 1414213562373095048 < sqrt(2) * 10^18 < 1414213562373095049.
  const Number large = root * Number(1000000000000000000);
  EXPECT_EQ(large.Floor().get_str(), "1414213562373095048");
  EXPECT_EQ((large - Number(1414213562373095048)).Sign(), 1);
  EXPECT_EQ((large - Number(1414213562373095049)).Sign(), -1);
  EXPECT_EQ((root * root - Number(2)).Sign(), 0);
  EXPECT_TRUE(root * root == Number(2));
}

TEST(NumberTest, DividesInTheField) {
  const Number root = Number::SquareRoot(Fraction(3, 7));
  const Number x = Number(5) + root * Fraction(2, 9);
  EXPECT_TRUE(x / x == Number(1));
  EXPECT_TRUE((x * root) / root == x);
  EXPECT_FALSE((x / Number(0)).decidable());
}

TEST(NumberTest, RelatesRootsThatDifferByASquare) {
  const Number two = Number::SquareRoot(Number(2));
  const Number eight = Number::SquareRoot(Number(8));
  EXPECT_TRUE(two + two == eight);
  EXPECT_FALSE((two + Number::SquareRoot(Number(3))).decidable());
  EXPECT_TRUE(Number::SquareRoot(Fraction(9, 16)) == Fraction(3, 4));
  EXPECT_FALSE(Number::SquareRoot(Number(-1)).decidable());
}

TEST(NumberTest, NearestDoubleIsTheNearest) {
  const Number third = Fraction(1, 3);
  EXPECT_TRUE(third.NearestDoubleIs(1.0 / 3));
  EXPECT_FALSE(third.NearestDoubleIs(std::nextafter(1.0 / 3, 1)));
  EXPECT_FALSE(third.NearestDoubleIs(std::nextafter(1.0 / 3, 0)));
  EXPECT_FALSE(third.NearestDoubleIs(std::nan("")));
  EXPECT_FALSE(
      Number::FromDouble(std::numeric_limits<double>::infinity()).decidable());
}

}  // namespace
}  // namespace fold::check
