#include "compiler/exact/reciprocal.h"

#include <gtest/gtest.h>

#include "compiler/exact/naive_chain.h"

namespace fold::exact {
namespace {

TEST(SimplestBetween, LeastDenominators) {
  const auto between = [](Rational low, Rational high) {
    return SimplestBetween(low, high);
  };
  EXPECT_EQ(between(Fraction(1, 3), Fraction(1, 2)), Fraction(2, 5));
  EXPECT_EQ(between(Fraction(5, 2), Fraction(7, 2)), 3);
  EXPECT_EQ(between(0, Fraction(3, 10)), Fraction(1, 4));
  EXPECT_EQ(between(2, 3), Fraction(5, 2));
  EXPECT_EQ(between(Fraction(-1, 2), Fraction(-1, 3)), Fraction(-2, 5));
  EXPECT_EQ(between(-1, Fraction(1, 7)), 0);
  EXPECT_EQ(between(Fraction(-1, 5), 0), Fraction(-1, 6));
  EXPECT_EQ(SimplestBetween(Fraction(7, 2), std::nullopt), 4);
  EXPECT_EQ(SimplestBetween(std::nullopt, Rational(-3)), -4);
  // A neighbour of pi, which only long fractions come near to.
  const Rational pi = Fraction(3141592653589793, 1000000000000000);
  const Rational near = between(pi, pi + Fraction(1, 10000000));
  EXPECT_EQ(near, Fraction(104348, 33215));
}

TableProblem Problem(std::int64_t low, std::int64_t high, std::int64_t zero,
                     const Rational& c) {
  TableProblem problem;
  problem.code_low = low;
  problem.code_high = high;
  problem.zero_point = zero;
  problem.steps = {Reciprocal{c}};
  return problem;
}

// Every code of the plan is the table's, which is evaluated entry by entry.
void ExpectTable(const TableProblem& problem) {
  const ReciprocalResult found = ChooseReciprocal({&problem, 1});
  ASSERT_TRUE(found.plan) << found.refusal;
  const std::vector<TableEntry> entries = EvaluateTable(problem);
  for (std::int64_t x = problem.code_low; x <= problem.code_high; ++x) {
    ASSERT_EQ(Evaluate(*found.plan, 0, x, problem.zero_point),
              entries[x - problem.code_low].code)
        << x;
  }
  const ReciprocalChannel& channel = found.plan->channels[0];
  EXPECT_LE(std::abs(channel.numerator), std::int64_t{1} << 62);
  EXPECT_GE(channel.denominator, 1);
  EXPECT_LE(channel.denominator, std::int64_t{1} << 46);
}

TEST(ChooseReciprocal, EveryCodeOfEightBits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 60; ++i) {
    const bool plain = i % 2 == 0;
    TableProblem problem =
        Problem(plain ? -128 : 0, plain ? 127 : 255, RandomInt(&random, 0, 127),
                RandomFloat(&random, -3, 3));
    problem.scale = RandomFloat(&random, 0.001, 0.2);
    problem.quantization.scale = RandomFloat(&random, 0.001, 4);
    problem.quantization.zero_point = RandomInt(&random, -128, 127);
    ExpectTable(problem);
  }
}

TEST(ChooseReciprocal, EveryCodeOfSixteenBits) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 6; ++i) {
    TableProblem problem = Problem(-32768, 32767, RandomInt(&random, -99, 99),
                                   RandomFloat(&random, -3, 3));
    problem.scale = RandomFloat(&random, 0.0001, 0.002);
    problem.quantization.scale = RandomFloat(&random, 0.0005, 0.01);
    if (i % 2 == 1) {
      problem.quantization.code_low = -32768;
      problem.quantization.code_high = 32767;
    }
    ExpectTable(problem);
  }
}

// Scales of powers of two reach ties on both sides, which leave no room for
// another fraction than the real one.
TEST(ChooseReciprocal, Ties) {
  TableProblem problem = Problem(-128, 127, 0, Fraction(3, 2));
  ExpectTable(problem);
  problem.steps = {Reciprocal{Fraction(5, 2)}};
  const ReciprocalResult found = ChooseReciprocal({&problem, 1});
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(Evaluate(*found.plan, 0, 1, 0), 2);    // 2.5
  EXPECT_EQ(Evaluate(*found.plan, 0, 5, 0), 0);    // 0.5
  EXPECT_EQ(Evaluate(*found.plan, 0, -1, 0), -2);  // -2.5
}

TEST(ChooseReciprocal, SaturatesBySignAndTakesZeroOverZeroToTheZeroPoint) {
  for (const int sign : {1, -1, 0}) {
    TableProblem problem = Problem(0, 255, 128, Rational(sign));
    problem.scale = Fraction(1, 10);
    problem.quantization.zero_point = 5;
    problem.quantization.clamp_low = -100;
    problem.quantization.clamp_high = 90;
    ExpectTable(problem);
    const auto found = ChooseReciprocal({&problem, 1});
    EXPECT_EQ(Evaluate(*found.plan, 0, 128, 128), sign > 0   ? 90
                                                  : sign < 0 ? -100
                                                             : 5);
  }
  // A zero point outside of the clamp.
  TableProblem problem = Problem(0, 255, 128, Rational(0));
  problem.quantization.clamp_low = 20;
  ExpectTable(problem);
}

// Coefficients at the ends of a float32's range.
TEST(ChooseReciprocal, OverflowAndUnderflow) {
  for (const double c : {3.4e38, -3.4e38, 1e-45, -1e-45}) {
    TableProblem problem = Problem(-128, 127, 3, FromDouble(float(c)));
    problem.scale = FromDouble(0.013f);
    problem.quantization.scale = FromDouble(0.02f);
    ExpectTable(problem);
  }
}

TEST(ChooseReciprocal, ScalesAndClampsBehindIt) {
  TableProblem problem = Problem(-128, 127, 3, Rational(2));
  problem.scale = Fraction(1, 16);
  problem.quantization.scale = Fraction(1, 8);
  problem.steps.push_back(Multiply{Fraction(-3, 2)});
  problem.steps.push_back(Divide{Rational(5)});
  ExpectTable(problem);
  problem.steps.push_back(Clip{Rational(-1), Rational(2)});
  ExpectTable(problem);
  problem.steps.push_back(Multiply{Rational(2)});
  EXPECT_FALSE(ChooseReciprocal({&problem, 1}).plan);
}

TEST(ChooseReciprocal, Refusals) {
  TableProblem problem = Problem(-128, 127, 3, Rational(2));
  problem.steps.push_back(Add{Rational(1)});
  EXPECT_FALSE(ChooseReciprocal({&problem, 1}).plan);
  problem.steps = {Multiply{Rational(1)}};
  const auto found = ChooseReciprocal({&problem, 1});
  EXPECT_FALSE(found.plan);
  EXPECT_EQ(found.refusal, "channel 0: no fraction gives every code");
  problem.code_high = -200;
  EXPECT_FALSE(ChooseReciprocal({&problem, 1}).plan);
}

TEST(ChooseReciprocal, Channels) {
  std::vector<TableProblem> problems;
  for (const int c : {3, -2, 0, 1}) {
    problems.push_back(Problem(-128, 127, 3, Rational(c)));
  }
  const auto found = ChooseReciprocal(problems);
  ASSERT_TRUE(found.plan);
  ASSERT_EQ(found.plan->channels.size(), 4u);
  for (size_t c = 0; c < problems.size(); ++c) {
    const auto entries = EvaluateTable(problems[c]);
    for (std::int64_t x = -128; x <= 127; ++x) {
      ASSERT_EQ(Evaluate(*found.plan, c, x, 3), entries[x + 128].code);
    }
  }
}

}  // namespace
}  // namespace fold::exact
