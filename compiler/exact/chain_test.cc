#include "compiler/exact/chain.h"

#include <gtest/gtest.h>

namespace fold::exact {
namespace {

ChannelProblem Plain() {
  ChannelProblem problem;
  problem.acc_low = -10;
  problem.acc_high = 10;
  return problem;
}

TEST(Chain, AcceptsAPlainProblem) {
  EXPECT_EQ(FindFault(Plain()), std::nullopt);
}

TEST(Chain, NamesEachFault) {
  ChannelProblem problem = Plain();
  problem.acc_high = -11;
  EXPECT_TRUE(FindFault(problem));
  problem = Plain();
  problem.acc_high = (std::int64_t{1} << 62) + 1;
  EXPECT_TRUE(FindFault(problem));
  problem = Plain();
  problem.quantization.scale = 0;
  EXPECT_TRUE(FindFault(problem));
  problem = Plain();
  problem.quantization.code_high = 65408;
  EXPECT_TRUE(FindFault(problem));
  problem.quantization.clamp_high = 65407;
  EXPECT_FALSE(FindFault(problem));
  problem = Plain();
  problem.quantization.zero_point = std::int64_t{1} << 40;
  EXPECT_TRUE(FindFault(problem));
}

TEST(Chain, NamesFaultsOfSteps) {
  const ChainStep bad[] = {Divide{Rational(0)},
                           BatchNorm{1, 0, 0, Fraction(-1, 2), Fraction(1, 2)},
                           LeakyRelu{Fraction(-1, 10)}, Reciprocal{1}};
  for (const ChainStep& step : bad) {
    ChannelProblem problem = Plain();
    problem.steps = {step};
    EXPECT_TRUE(FindFault(problem)) << step.index();
  }
  ChannelProblem problem = Plain();
  problem.steps = {Multiply{0}, BatchNorm{0, 0, 0, 0, Fraction(1, 1000)},
                   LeakyRelu{0}, Relu{}, Clip{}};
  EXPECT_FALSE(FindFault(problem));
}

TEST(Chain, EffectiveRangeAppliesTheClampAfterSaturation) {
  Quantization q;
  EXPECT_EQ(EffectiveRange(q).low, -128);
  EXPECT_EQ(EffectiveRange(q).high, 127);
  q.clamp_low = 0;
  q.clamp_high = 300;
  EXPECT_EQ(EffectiveRange(q).low, 0);
  EXPECT_EQ(EffectiveRange(q).high, 127);
  q.clamp_low = 200;  // beyond the storage: every code becomes 200
  EXPECT_EQ(EffectiveRange(q).low, 200);
  EXPECT_EQ(EffectiveRange(q).high, 200);
}

}  // namespace
}  // namespace fold::exact
