#include "compiler/check/chain.h"

#include <gtest/gtest.h>

#include <random>

namespace fold::check {
namespace {

Number Fraction(int64_t n, int64_t d) { return Number(n) / Number(d); }

Chain Quantization(const Number& scale, int64_t zero, int64_t low,
                   int64_t high) {
  return {Affine(Number(1) / scale, Number(0)), Round(),
          Affine(Number(1), Number(zero)), Clamp(Whole(low, high))};
}

void Append(Chain* to, const Chain& from) {
  to->insert(to->end(), from.begin(), from.end());
}

int64_t CodeAt(const StepFunction& steps, int64_t x) {
  int64_t code = steps.pieces[0].code;
  for (const Piece& piece : steps.pieces) {
    if (piece.start <= x) code = piece.code;
  }
  return code;
}

// Thresholds against evaluation at every point, for random chains with ties,
// negative scales, clamps and two roundings.
TEST(ChainTest, StepsAgreeWithEvaluationEverywhere) {
  std::mt19937 random(7);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 300; ++round) {
    Chain chain;
    const Number scale =
        Fraction(pick(1, 9) * (pick(0, 1) != 0 ? 1 : -1), pick(1, 12));
    chain.push_back(Affine(scale, Fraction(pick(-40, 40), pick(1, 6))));
    if (pick(0, 1) != 0) chain.push_back(Clamp({Number(0), std::nullopt}));
    Append(&chain, Quantization(Fraction(pick(1, 8), pick(1, 8)), pick(-9, 9),
                                -20, 30));
    if (pick(0, 1) != 0) {
      chain.push_back(Affine(Fraction(pick(1, 5), 2), Number(1)));
      Append(&chain, Quantization(Fraction(pick(1, 8), 4), 3, -8, 25));
    }
    const Interval domain = Whole(-60, 70);
    const Chain reduced = Reduce(chain, 0, domain, true);
    StepFunction steps;
    ASSERT_FALSE(Steps(reduced, -60, 70, &steps));
    for (int64_t x = -60; x <= 70; ++x) {
      const Number expected = Evaluate(chain, Number(x));
      ASSERT_TRUE(expected == Number(CodeAt(steps, x)))
          << "round " << round << " x " << x;
    }
  }
}

TEST(ChainTest, SquareRootsAreDecided) {
  const Number root = Number::SquareRoot(Fraction(7, 3));
  Chain chain = {Affine(Number(1) / root, root * Number(2) - Number(1))};
  Append(&chain, Quantization(Fraction(1, 3), 0, -128, 127));
  const Chain reduced = Reduce(chain, 0, Whole(-50, 50), true);
  StepFunction steps;
  ASSERT_FALSE(Steps(reduced, -50, 50, &steps));
  for (int64_t x = -50; x <= 50; ++x) {
    EXPECT_TRUE(Evaluate(chain, Number(x)) == Number(CodeAt(steps, x)));
  }
}

TEST(ChainTest, ReduceSeesThatNothingHappens) {
  const Number scale = Number::FromDouble(0.1F);
  Chain chain = {Affine(scale, -(scale * Number(5)))};
  Append(&chain, Quantization(scale, 5, 0, 255));
  EXPECT_TRUE(Reduce(chain, 0, Whole(0, 255), true).empty());
  EXPECT_FALSE(Reduce(chain, 0, Whole(-1, 255), true).empty());
  EXPECT_FALSE(Reduce(chain, 0, Whole(0, 255), false).empty());
  Chain other = {Affine(scale, -(scale * Number(5)))};
  Append(&other, Quantization(scale * Number(2), 5, 0, 255));
  EXPECT_FALSE(Reduce(other, 0, Whole(0, 255), true).empty());
}

TEST(ChainTest, UndecidableIsSaid) {
  const Number two = Number::SquareRoot(Number(2));
  const Number three = Number::SquareRoot(Number(3));
  const Chain chain = {Affine(two, three), Round()};
  StepFunction steps;
  EXPECT_TRUE(
      Steps(Reduce(chain, 0, Whole(0, 9), true), 0, 9, &steps).has_value() ||
      !(two + three).decidable());
  const Chain division = {Affine(Number(1) / Number(0), Number(0)), Round()};
  EXPECT_TRUE(Steps(division, 0, 9, &steps).has_value());
}

TEST(ChainTest, HalfLinesPullBackThroughFallingSteps) {
  // 3 - x rounded to at least 2: x <= 3/2, where 3/2 gives the tie to 2.
  const Chain chain = {Affine(Number(-1), Number(3)), Round()};
  const HalfLine line =
      PullBack(chain, {HalfLine::Kind::kAbove, false, Number(2)});
  EXPECT_EQ(line.kind, HalfLine::Kind::kBelow);
  EXPECT_FALSE(line.strict);
  EXPECT_TRUE(line.bound == Fraction(3, 2));
}

// -5 / (x / 2) with its infinity, ties and code range.
TEST(ChainTest, DivisionsArePointwise) {
  Chain chain = {Affine(Fraction(1, 2), Number(0)), Over({Number(-5)})};
  Append(&chain, Quantization(Number(4), 7, 0, 9));
  StepFunction steps;
  const Chain reduced = Reduce(chain, 0, Whole(-20, 20), true);
  ASSERT_EQ(Steps(reduced, -20, 20, &steps), std::nullopt);
  EXPECT_EQ(CodeAt(steps, 0), 0);   // minus infinity
  EXPECT_EQ(CodeAt(steps, -1), 9);  // 10 / 4 = 2.5 to 2
  EXPECT_EQ(CodeAt(steps, 1), 5);   // -2.5 to -2
  EXPECT_EQ(CodeAt(steps, -5), 7);  // 2 / 4 = 0.5 to 0
  EXPECT_EQ(CodeAt(steps, -4), 8);  // 2.5 / 4
  EXPECT_EQ(CodeAt(steps, 20), 7);
  // Zero over zero is the zero point, and nothing else behind an addition.
  chain[1] = Over({Number(0)});
  ASSERT_EQ(Steps(Reduce(chain, 0, Whole(-2, 2), true), -2, 2, &steps),
            std::nullopt);
  EXPECT_EQ(CodeAt(steps, 0), 7);
  chain.insert(chain.begin() + 2, Affine(Number(1), Number(3)));
  EXPECT_TRUE(Steps(Reduce(chain, 0, Whole(-2, 2), true), -2, 2, &steps));
}

}  // namespace
}  // namespace fold::check
