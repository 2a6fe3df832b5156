#include "compiler/exact/step_function.h"

#include <gtest/gtest.h>

#include "compiler/exact/naive_chain.h"

namespace fold::exact {
namespace {

template <typename Number = Rational>
void CheckEveryAccumulator(const ChannelProblem& problem) {
  ASSERT_EQ(FindFault(problem), std::nullopt);
  const StepFunction ideal = IdealSteps(problem);
  ASSERT_TRUE(std::is_sorted(ideal.thresholds.begin(), ideal.thresholds.end()));
  if (!ideal.thresholds.empty()) {
    EXPECT_GT(ideal.thresholds.front(), problem.acc_low);
    EXPECT_LE(ideal.thresholds.back(), problem.acc_high);
  }
  for (std::int64_t acc = problem.acc_low; acc <= problem.acc_high; ++acc) {
    ASSERT_EQ(ideal.Code(acc),
              NaiveCode<Number>(acc, problem.steps, problem.quantization))
        << "acc " << acc;
  }
  EXPECT_EQ(ideal.LastCode(), ideal.Code(problem.acc_high));
}

ChannelProblem Range(std::int64_t low, std::int64_t high) {
  ChannelProblem problem;
  problem.acc_low = low;
  problem.acc_high = high;
  return problem;
}

TEST(StepFunction, RandomFloatScales) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 60; ++i) {
    ChannelProblem p =
        Range(-RandomInt(&random, 0, 800), RandomInt(&random, 0, 800));
    p.steps = {Multiply{RandomFloat(&random, 0.001, 0.5)},
               Multiply{RandomFloat(&random, -0.5, 0.5)},
               Add{RandomFloat(&random, -3, 3)}};
    p.quantization.scale = RandomFloat(&random, 0.01, 0.3);
    p.quantization.zero_point = RandomInt(&random, -128, 127);
    if (i % 3 == 1) p.steps.push_back(Relu{});
    if (i % 3 == 2) p.quantization.clamp_low = -20;
    CheckEveryAccumulator(p);
  }
}

TEST(StepFunction, TiesGoToTheEvenCodeInBothDirections) {
  for (const int sign : {1, -1}) {
    ChannelProblem p = Range(-600, 600);
    p.steps = {Multiply{Fraction(sign, 4)}};
    p.quantization.zero_point = 3;
    CheckEveryAccumulator(p);
    EXPECT_TRUE(IdealSteps(p).tie_reachable);
  }
  for (const int divisor : {6, 10, 12, 7}) {
    ChannelProblem p = Range(-1400, 1400);
    p.steps = {Divide{divisor}};
    CheckEveryAccumulator(p);
    EXPECT_EQ(IdealSteps(p).tie_reachable, divisor % 2 == 0) << divisor;
  }
}

TEST(StepFunction, TieAtTheEndOfTheRangeIsSeen) {
  ChannelProblem p = Range(1, 2);
  p.steps = {Multiply{Fraction(1, 4)}};  // 0.25 and 0.5
  EXPECT_TRUE(IdealSteps(p).tie_reachable);
  CheckEveryAccumulator(p);
  p = Range(510, 510);  // 127.5 lies above the last code
  p.steps = {Multiply{Fraction(1, 4)}};
  EXPECT_FALSE(IdealSteps(p).tie_reachable);
}

TEST(StepFunction, JumpsOfManyCodesRepeatThresholds) {
  ChannelProblem p = Range(-50, 50);
  p.steps = {Multiply{Fraction(73, 5)}};
  CheckEveryAccumulator(p);
  EXPECT_EQ(IdealSteps(p).thresholds.size(), 255u);
  p.steps = {Multiply{FromDouble(1e30)}};
  CheckEveryAccumulator(p);
}

TEST(StepFunction, NegativeOutputScaleReversesTheOrder) {
  ChannelProblem p = Range(-300, 300);
  p.steps = {Multiply{Fraction(1, 2)}, Relu{}};
  p.quantization.scale = Fraction(-1, 2);
  CheckEveryAccumulator(p);
  EXPECT_FALSE(IdealSteps(p).increasing);
}

TEST(StepFunction, BatchNormWithRationalRootReachesTies) {
  ChannelProblem p = Range(-200, 200);
  p.steps = {Multiply{Fraction(1, 8)},
             BatchNorm{Fraction(3, 2), Fraction(1, 4), Fraction(5, 8),
                       Rational(2), Fraction(1, 4)},
             Relu{}};
  p.quantization.scale = Fraction(1, 10);
  CheckEveryAccumulator(p);
  EXPECT_TRUE(IdealSteps(p).tie_reachable);
}

TEST(StepFunction, BatchNormWithIrrationalRoots) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 10; ++i) {
    ChannelProblem p = Range(-400, 400);
    const Rational epsilon = FromDouble(1e-5f);
    p.steps = {
        Multiply{RandomFloat(&random, 0.001, 0.01)},
        BatchNorm{RandomFloat(&random, -2, 2), RandomFloat(&random, -1, 1),
                  RandomFloat(&random, -1, 1), RandomFloat(&random, 0.1, 2),
                  epsilon},
        LeakyRelu{RandomFloat(&random, 0, 0.5)},
        BatchNorm{RandomFloat(&random, -2, 2), RandomFloat(&random, -1, 1),
                  RandomFloat(&random, -1, 1), RandomFloat(&random, 0.1, 2),
                  epsilon}};
    p.quantization.scale = RandomFloat(&random, 0.01, 0.1);
    CheckEveryAccumulator<mpf_class>(p);
  }
}

TEST(StepFunction, TieOfAnIrrationalSlopeAtZero) {
  // sqrt(2) * acc + 1/2 is halfway at acc = 0 alone: 0 is even, so it stays.
  ChannelProblem p = Range(-3, 3);
  p.steps = {BatchNorm{2, Fraction(1, 2), 0, 1, 1}};
  const StepFunction ideal = IdealSteps(p);
  EXPECT_TRUE(ideal.tie_reachable);
  EXPECT_EQ(ideal.Code(0), 0);
  EXPECT_EQ(ideal.Code(1), 2);    // 1.91
  EXPECT_EQ(ideal.Code(-1), -1);  // -0.91
}

TEST(StepFunction, DegenerateChannels) {
  ChannelProblem point = Range(0, 0);  // all weights zero
  point.steps = {Multiply{FromDouble(0.02f)}, Add{FromDouble(1e30)}};
  CheckEveryAccumulator(point);
  ChannelProblem constant = Range(-500, 500);
  constant.steps = {Multiply{0}, Add{Fraction(5, 2)}};
  CheckEveryAccumulator(constant);
  EXPECT_TRUE(IdealSteps(constant).thresholds.empty());
  ChannelProblem tiny = Range(-500, 500);
  tiny.steps = {Multiply{FromDouble(1e-40)}, Add{Fraction(1, 2)}};
  CheckEveryAccumulator(tiny);  // one step, at the tie
  ChannelProblem wide = Range(-(std::int64_t{1} << 62), std::int64_t{1} << 62);
  wide.steps = {Multiply{FromDouble(0x1p-56)}, Add{FromDouble(0.1)}};
  const StepFunction ideal = IdealSteps(wide);
  for (const std::int64_t t : ideal.thresholds) {
    EXPECT_EQ(ideal.Code(t), NaiveCode(t, wide.steps, wide.quantization));
    EXPECT_EQ(ideal.Code(t - 1),
              NaiveCode(t - 1, wide.steps, wide.quantization));
  }
  EXPECT_EQ(ideal.thresholds.size(), 128u);  // -64.. 64 in steps of one
}

TEST(StepFunction, FartherFromATieThanSixtyFourFractionBitsTell) {
  for (const int sign : {1, -1}) {
    for (const double speck : {1e-25, -1e-25}) {
      ChannelProblem p = Range(-40, 40);
      p.steps = {Multiply{Fraction(sign, 2)}, Add{FromDouble(speck)}};
      CheckEveryAccumulator(p);
      EXPECT_FALSE(IdealSteps(p).tie_reachable);
    }
  }
}

TEST(StepFunction, DirectionOfConstantPieces) {
  // No accumulator falls inside the clip; the codes still go down.
  ChannelProblem p = Range(-30, 30);
  p.steps = {Multiply{-100}, Add{50}, Clip{-7, 30}};
  CheckEveryAccumulator(p);
  EXPECT_FALSE(IdealSteps(p).increasing);
}

TEST(StepFunction, SixteenBitCodes) {
  std::mt19937_64 random(13);
  for (int i = 0; i < 3; ++i) {
    ChannelProblem p = Range(-60000, 90000);
    p.steps = {Multiply{RandomFloat(&random, 0.2, 0.9)}};
    p.quantization = {.scale = RandomFloat(&random, 0.5, 1.5),
                      .zero_point = 20000,
                      .code_low = 0,
                      .code_high = 65535};
    const StepFunction ideal = IdealSteps(p);
    for (std::int64_t acc = p.acc_low; acc <= p.acc_high; acc += 31) {
      ASSERT_EQ(ideal.Code(acc), NaiveCode(acc, p.steps, p.quantization));
    }
  }
}

TEST(StepFunction, ZeroPointFarOutside) {
  ChannelProblem p = Range(-5000, 5000);
  p.steps = {Multiply{Fraction(1, 3)}};
  p.quantization.zero_point = 1000;  // 16-bit zero point, 8-bit clamp
  CheckEveryAccumulator(p);
  p.quantization.zero_point = std::int64_t{1} << 31;
  CheckEveryAccumulator(p);
}

}  // namespace
}  // namespace fold::exact
