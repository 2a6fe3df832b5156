// Which arithmetic is a quantization, and exactly which one: each accepted
// reading is held against the arithmetic itself, number by number.
#include "compiler/annotate/written_grid.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/exact/rational.h"

namespace fold {
namespace {

using Kind = WrittenStep::Kind;
using exact::Rational;

WrittenStep By(Kind kind, double number) { return {kind, {number}, 0, 0}; }
const WrittenStep kRound = {Kind::kRound, {}, 0, 0};
const WrittenStep kFloor = {Kind::kFloor, {}, 0, 0};

// The quantization of x by its definition.
Rational Quantized(const Encoding& e, const Rational& x) {
  const Rational q = x / exact::FromDouble(e.scale(0));
  const int64_t near = exact::ToInt64(exact::Floor(q));
  int64_t rounded = near - 1;
  for (int64_t k = near - 1; k <= near + 2; ++k) {
    const RoundingStep step = StepTo(e.rounding, k);
    const Rational at = exact::Fraction(step.twice, 2);
    if (q > at || (q == at && step.takes)) rounded = k;
  }
  const int64_t z = e.zero_point(0);
  const int64_t code =
      std::min(std::max(rounded + z, *e.code_low), *e.code_high);
  return exact::FromInt64(code - z) * exact::FromDouble(e.scale(0));
}

// Reads the steps and holds what was read against them at every quarter step
// around all codes, ties among them.
std::string Read(const std::vector<WrittenStep>& steps) {
  std::string why;
  const auto grid = GridOf(steps, &why);
  if (!grid) return why;
  const Encoding& e = grid->encoding;
  const Rational unit =
      exact::FromDouble(e.scale(0)) / exact::FromDouble(grid->factors[0]) / 4;
  for (int64_t i = 4 * (*e.code_low - e.zero_point(0) - 3);
       i <= 4 * (*e.code_high - e.zero_point(0) + 3); ++i) {
    const double x = exact::NearestDouble(exact::FromInt64(i) * unit);
    const Rational real = exact::FromDouble(x);
    EXPECT_EQ(exact::FromDouble(ApplyWritten(steps, x, 0)),
              Quantized(e, real * exact::FromDouble(grid->factors[0])))
        << x;
  }
  return FormatEncoding(e) +
         (grid->plain() ? "" : " factor=" + std::to_string(grid->factors[0]));
}

TEST(WrittenGrid, DivideRoundClipMultiply) {
  EXPECT_EQ(Read({By(Kind::kDivide, 0.1f), kRound, By(Kind::kAtLeast, -8),
                  By(Kind::kAtMost, 7), By(Kind::kMultiply, 0.1f)}),
            "s=0.10000000149011612 z=0 codes=[-8,7]");
}

TEST(WrittenGrid, ZeroPoints) {
  // Added before the rounding: an odd one turns ties the other way.
  const auto with = [](double z) {
    return Read({By(Kind::kDivide, 0.5), By(Kind::kAdd, z), kRound,
                 By(Kind::kAtLeast, 0), By(Kind::kAtMost, 15),
                 By(Kind::kSubtract, z), By(Kind::kMultiply, 0.5)});
  };
  EXPECT_EQ(with(4), "s=0.5 z=4 codes=[0,15]");
  EXPECT_EQ(with(3), "s=0.5 z=3 codes=[0,15] rounding=half_odd");
  EXPECT_EQ(with(3.25),
            "what is added before the rounding is no whole number of steps");
  EXPECT_EQ(with(20), "none of its codes is zero");
  // Added behind it: a bound of the codes, and no more.
  EXPECT_EQ(Read({By(Kind::kDivide, 0.5), kRound, By(Kind::kAdd, 3),
                  By(Kind::kAtLeast, 0), By(Kind::kAtMost, 15),
                  By(Kind::kSubtract, 3), By(Kind::kMultiply, 0.5)}),
            "s=0.5 z=0 codes=[-3,12]");
}

// Codes count from 0 where they do not fit 8 bits otherwise.
TEST(WrittenGrid, ZeroPointsBehindTheRounding) {
  EXPECT_EQ(Read({By(Kind::kDivide, 0.5), kRound, By(Kind::kAdd, 77),
                  By(Kind::kAtLeast, 0), By(Kind::kAtMost, 255),
                  By(Kind::kSubtract, 77), By(Kind::kMultiply, 0.5)}),
            "s=0.5 z=77 codes=[0,255]");
  std::string why;
  const WrittenStep z = {Kind::kAdd, {3, 5}, 0, 0};
  const WrittenStep back = {Kind::kSubtract, {3, 5}, 0, 0};
  const auto grid = GridOf(
      std::vector<WrittenStep>{By(Kind::kDivide, 0.5), kRound, z,
                               By(Kind::kAtLeast, 0), By(Kind::kAtMost, 15),
                               back, By(Kind::kMultiply, 0.5)},
      &why);
  ASSERT_TRUE(grid) << why;
  EXPECT_EQ(grid->encoding.zero_points, (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(*grid->encoding.code_low, 0);
  EXPECT_EQ(*grid->encoding.code_high, 15);
}

TEST(WrittenGrid, BoundsBeforeTheRounding) {
  EXPECT_EQ(Read({By(Kind::kAtMost, 6), By(Kind::kAtLeast, -1),
                  By(Kind::kMultiply, 4), kRound, By(Kind::kDivide, 4)}),
            "s=0.25 z=0 codes=[-4,24]");
  // The bound's code is what the bound rounds to.
  EXPECT_EQ(Read({By(Kind::kAtLeast, -0.3f), By(Kind::kAtMost, 1.1f),
                  By(Kind::kDivide, 0.25), kRound, By(Kind::kMultiply, 0.25)}),
            "s=0.25 z=0 codes=[-1,4]");
}

// TensorFlow's nudged ranges, with a scale whose reciprocal is exact.
TEST(WrittenGrid, NudgedRange) {
  EXPECT_EQ(Read({By(Kind::kAtLeast, -1), By(Kind::kAtMost, 2.75),
                  By(Kind::kSubtract, -1), By(Kind::kMultiply, 4),
                  By(Kind::kAdd, 0.5), kFloor, By(Kind::kMultiply, 0.25),
                  By(Kind::kAdd, -1)}),
            "s=0.25 z=4 codes=[0,15] rounding=half_up");
  // -z * scale rounded to a float32 is not on the grid of zero.
  EXPECT_EQ(Read({By(Kind::kAtLeast, -0.3f), By(Kind::kAtMost, 1.2f),
                  By(Kind::kSubtract, -0.3f), By(Kind::kDivide, 0.1f), kRound,
                  By(Kind::kMultiply, 0.1f), By(Kind::kAdd, -0.3f)}),
            "what is added before the rounding is no whole number of steps");
}

TEST(WrittenGrid, EveryRounding) {
  const auto with = [](const WrittenStep& rounding, double addend) {
    return Read({By(Kind::kDivide, 0.5), By(Kind::kAdd, addend), rounding,
                 By(Kind::kAtLeast, -8), By(Kind::kAtMost, 7),
                 By(Kind::kMultiply, 0.5)});
  };
  EXPECT_EQ(with(kFloor, 0), "s=0.5 z=0 codes=[-8,7] rounding=floor");
  EXPECT_EQ(with(kFloor, 0.5), "s=0.5 z=0 codes=[-8,7] rounding=half_up");
  EXPECT_EQ(with({Kind::kCeil, {}, 0, 0}, 0),
            "s=0.5 z=0 codes=[-8,7] rounding=ceil");
  EXPECT_EQ(with({Kind::kCeil, {}, 0, 0}, -0.5),
            "what is added before the rounding is no whole number of steps");
}

TEST(WrittenGrid, Casts) {
  const WrittenStep cast = {Kind::kToInteger, {}, -128, 127};
  EXPECT_EQ(Read({By(Kind::kAtLeast, -2), By(Kind::kAtMost, 2),
                  By(Kind::kMultiply, 4), cast, By(Kind::kDivide, 4)}),
            "s=0.25 z=0 codes=[-8,8] rounding=to_zero");
  // Of numbers that are not negative it rounds down.
  EXPECT_EQ(
      Read({By(Kind::kAtLeast, 0), By(Kind::kAtMost, 2), By(Kind::kMultiply, 4),
            By(Kind::kAdd, 0.5), cast, By(Kind::kDivide, 4)}),
      "s=0.25 z=0 codes=[0,8] rounding=half_up");
  // Codes that are whole already, and the type's ends.
  EXPECT_EQ(Read({By(Kind::kMultiply, 4), kRound, By(Kind::kAtLeast, -8),
                  By(Kind::kAtMost, 7), cast, By(Kind::kDivide, 4)}),
            "s=0.25 z=0 codes=[-8,7]");
  EXPECT_EQ(Read({By(Kind::kMultiply, 4), cast, By(Kind::kDivide, 4)}),
            "a Cast can leave its type's range");
  EXPECT_EQ(Read({By(Kind::kMultiply, 4), kRound, By(Kind::kAtLeast, -8),
                  By(Kind::kAtMost, 128), cast, By(Kind::kDivide, 4)}),
            "a Cast can leave its type's range");
}

// The way in and the way out need not agree: their product is a factor.
TEST(WrittenGrid, AReciprocalThatIsRounded) {
  const float scale = 0.1f, reciprocal = 1.0f / scale;
  const std::string read =
      Read({By(Kind::kMultiply, reciprocal), kRound, By(Kind::kAtLeast, -8),
            By(Kind::kAtMost, 7), By(Kind::kMultiply, scale)});
  EXPECT_EQ(read, "s=0.10000000149011612 z=0 codes=[-8,7] factor=1.000000");
  std::string why;
  const auto grid = GridOf(
      std::vector<WrittenStep>{By(Kind::kMultiply, reciprocal), kRound,
                               By(Kind::kAtLeast, -8), By(Kind::kAtMost, 7),
                               By(Kind::kMultiply, scale)},
      &why);
  EXPECT_EQ(grid->factors[0],
            static_cast<double>(reciprocal) * static_cast<double>(scale));
  EXPECT_NE(grid->factors[0], 1);
  // 1 / 0.3 is no double.
  EXPECT_EQ(Read({By(Kind::kDivide, 0.3f), kRound, By(Kind::kAtLeast, -8),
                  By(Kind::kAtMost, 7), By(Kind::kMultiply, 0.1f)}),
            "its scale is no float number");
}

TEST(WrittenGrid, Channels) {
  std::string why;
  const WrittenStep divide = {Kind::kDivide, {0.5, 0.25}, 0, 0};
  const WrittenStep multiply = {Kind::kMultiply, {0.5, 0.25}, 0, 0};
  const auto grid =
      GridOf(std::vector<WrittenStep>{divide, kRound, By(Kind::kAtLeast, -8),
                                      By(Kind::kAtMost, 7), multiply},
             &why);
  ASSERT_TRUE(grid) << why;
  EXPECT_EQ(grid->encoding.scales, (std::vector<double>{0.5, 0.25}));
  EXPECT_TRUE(grid->plain());
  EXPECT_FALSE(GridOf(
      std::vector<WrittenStep>{By(Kind::kAtLeast, -1), By(Kind::kAtMost, 1),
                               divide, kRound, multiply},
      &why));
  EXPECT_EQ(why, "its channels have different codes");
}

TEST(WrittenGrid, WhatIsNoQuantization) {
  const WrittenStep low = By(Kind::kAtLeast, -8), high = By(Kind::kAtMost, 7);
  const WrittenStep in = By(Kind::kDivide, 0.5), out = By(Kind::kMultiply, 0.5);
  EXPECT_EQ(Read({in, low, high, out}), "nothing is rounded");
  EXPECT_EQ(Read({in, kRound, low, out}), "nothing bounds its codes");
  EXPECT_EQ(Read({in, kRound, By(Kind::kAtLeast, -INFINITY), high, out}),
            "nothing bounds its codes");
  EXPECT_EQ(Read({By(Kind::kDivide, -0.5), kRound, low, high, out}),
            "a factor is not greater than zero");
  EXPECT_EQ(Read({By(Kind::kMultiply, 0), kRound, low, high, out}),
            "a factor is not greater than zero");
  EXPECT_EQ(Read({By(Kind::kAdd, INFINITY), kRound, low, high, out}),
            "a constant is not finite");
  EXPECT_EQ(Read({in, kRound, low, high, out, By(Kind::kAdd, 0.25)}),
            "its grid does not have the zero that it rounds with");
  EXPECT_EQ(Read({in, kRound, By(Kind::kAtLeast, -7.5), high, out}),
            "a bound lies between two steps of its grid");
  EXPECT_EQ(Read({in, kRound, low, high, out, kRound}),
            "what is rounded is rounded again");
  EXPECT_EQ(Read({in, kRound, By(Kind::kAtLeast, -70000), high, out}),
            "it has no codes of 16 bits");
  EXPECT_EQ(Read({in, kRound, low, By(Kind::kAtMost, 40000), out}),
            "s=0.5 z=8 codes=[0,40008]");
  EXPECT_EQ(Read({in, kRound, By(Kind::kAtLeast, 7), high, out}),
            "it has no codes of 16 bits");
}

}  // namespace
}  // namespace fold
