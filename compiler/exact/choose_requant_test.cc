#include "compiler/exact/choose_requant.h"

#include <gtest/gtest.h>

#include "compiler/exact/naive_chain.h"

namespace fold::exact {
namespace {

ChannelProblem Scaled(const Rational& factor, std::int64_t reach = 1000) {
  ChannelProblem problem;
  problem.acc_low = -reach;
  problem.acc_high = reach;
  problem.steps = {Multiply{factor}};
  return problem;
}

// Every channel of the plan equals the naive meaning on a lattice of the range
// and around every threshold.
void ExpectExact(std::span<const ChannelProblem> problems,
                 const RequantPlan& plan) {
  ASSERT_EQ(plan.channels.size(), problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const ChannelProblem& p = problems[i];
    EXPECT_TRUE(Verify(p, plan.form, plan.channels[i]));
    if (plan.common_clamp && plan.form != RequantForm::kThresholds) {
      EXPECT_EQ(plan.channels[i].low, plan.low);
      EXPECT_EQ(plan.channels[i].high, plan.high);
    }
    const std::int64_t step = p.acc_high / 300 - p.acc_low / 300 + 1;
    for (std::int64_t acc = p.acc_low; acc <= p.acc_high; acc += step) {
      ASSERT_EQ(Evaluate(plan.form, plan.channels[i], acc),
                NaiveCode(acc, p.steps, p.quantization))
          << "channel " << i << " acc " << acc;
    }
  }
}

RequantPlan Choose(std::span<const ChannelProblem> problems,
                   FormSet allowed = kAllForms) {
  RequantResult result = ChooseRequant(problems, allowed);
  EXPECT_TRUE(result.plan) << result.refusal;
  if (!result.plan) return {};
  EXPECT_EQ(result.statistics.size(), problems.size());
  ExpectExact(problems, *result.plan);
  return *result.plan;
}

TEST(ChooseRequant, ConvolutionWithRandomScales) {
  std::mt19937_64 random(21);
  std::vector<ChannelProblem> problems;
  for (int i = 0; i < 20; ++i) {
    ChannelProblem p = Scaled(RandomFloat(&random, 0.001, 0.01), 5'000'000);
    p.steps.push_back(Multiply{RandomFloat(&random, 0.01, 0.05)});
    p.steps.push_back(Add{RandomFloat(&random, -1, 1)});
    p.steps.push_back(Relu{});
    p.quantization.scale = RandomFloat(&random, 0.02, 0.1);
    p.quantization.zero_point = -128;
    problems.push_back(p);
  }
  const RequantPlan plan = Choose(problems);
  EXPECT_EQ(plan.form, RequantForm::kMultiply64);
  EXPECT_TRUE(plan.common_clamp);
  EXPECT_EQ(plan.low, -128);
  EXPECT_TRUE(plan.fits_int32_before_clamp);
}

TEST(ChooseRequant, OneTyingChannelMovesAllOfThem) {
  std::vector<ChannelProblem> problems = {
      Scaled(FromDouble(0.1f)), Scaled(Fraction(1, 16)),
      Scaled(FromDouble(-0.3f)), Scaled(Rational(0))};
  EXPECT_EQ(Choose(problems).form, RequantForm::kHalfEven64);
  problems.push_back(Scaled(Fraction(1, 6)));
  EXPECT_EQ(Choose(problems).form, RequantForm::kRemainder);
  const RequantResult result = ChooseRequant(problems);
  EXPECT_EQ(result.statistics[0].cheapest, RequantForm::kMultiply64);
  EXPECT_EQ(result.statistics[1].cheapest, RequantForm::kHalfEven64);
  EXPECT_EQ(result.statistics[4].cheapest, RequantForm::kRemainder);
  EXPECT_FALSE(result.statistics[0].tie_reachable);
  EXPECT_TRUE(result.statistics[1].tie_reachable);
}

TEST(ChooseRequant, WideProductThenThresholds) {
  ChannelProblem wide = Scaled(FromDouble(0.0123457f), 4'000'000);
  wide.quantization.code_low = -32768;
  wide.quantization.code_high = 32767;
  wide.quantization.scale = FromDouble(1.0001f);
  const FormSet no_remainder = kAllForms & ~FormBit(RequantForm::kRemainder);
  std::vector<ChannelProblem> problems = {wide};
  EXPECT_EQ(Choose(problems, no_remainder).form, RequantForm::kMultiply128);
  ChannelProblem tie = Scaled(Fraction(1, 6), 4'000'000);
  tie.quantization = wide.quantization;
  tie.quantization.scale = 1;
  problems = {wide, tie};
  EXPECT_EQ(Choose(problems, no_remainder).form, RequantForm::kThresholds);
}

TEST(ChooseRequant, ClampsAgreeAlthoughSomeChannelsNeverReachThem) {
  std::vector<ChannelProblem> problems = {Scaled(FromDouble(0.25001f)),
                                          Scaled(FromDouble(0.01f)),
                                          Scaled(Rational(0))};
  for (ChannelProblem& p : problems) {
    p.steps.push_back(Add{FromDouble(0.3f)});
    p.steps.push_back(Clip{Rational(0), Rational(6)});
    p.quantization.scale = FromDouble(0.05f);
    p.quantization.zero_point = -100;
  }
  problems[1].acc_low = 5;  // never below zero
  const RequantPlan plan = Choose(problems);
  EXPECT_TRUE(plan.common_clamp);
  EXPECT_EQ(plan.low, -100);
  EXPECT_EQ(plan.high, 20);  // 6 / 0.05 = 120 (float32 0.05 is a bit more)
}

TEST(ChooseRequant, ClipBeforeAPerChannelScaleHasItsOwnClamps) {
  std::vector<ChannelProblem> problems = {Scaled(FromDouble(0.11f)),
                                          Scaled(FromDouble(0.12f))};
  problems[0].steps.push_back(Clip{Rational(-10), Rational(10)});
  problems[1].steps.push_back(Clip{Rational(-20), Rational(20)});
  const RequantPlan plan = Choose(problems);
  EXPECT_FALSE(plan.common_clamp);
  EXPECT_EQ(plan.channels[0].high, 10);
  EXPECT_EQ(plan.channels[1].high, 20);
}

TEST(ChooseRequant, EqualChannelsAreSolvedOnce) {
  std::vector<ChannelProblem> problems(5, Scaled(FromDouble(0.1f)));
  problems[3].acc_high = 999;
  const RequantResult result = ChooseRequant(problems);
  ASSERT_TRUE(result.plan);
  const bool expected[] = {false, true, true, false, true};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(result.statistics[i].reused, expected[i]) << i;
  }
  ExpectExact(problems, *result.plan);
}

TEST(ChooseRequant, KeyTellsStepsApart) {
  ChannelProblem relu = Scaled(FromDouble(0.1f));
  relu.steps.push_back(Relu{});
  ChannelProblem leaky = Scaled(FromDouble(0.1f));
  leaky.steps.push_back(LeakyRelu{Fraction(1, 2)});
  ChannelProblem clip = Scaled(FromDouble(0.1f));
  clip.steps.push_back(Clip{std::nullopt, Rational(3)});
  ChannelProblem other = Scaled(FromDouble(0.1f));
  other.steps.push_back(Clip{Rational(3), std::nullopt});
  ChannelProblem norm = Scaled(FromDouble(0.1f));
  norm.steps.push_back(BatchNorm{1, 2, 3, Rational(4), 0});
  std::vector<ChannelProblem> problems = {relu, leaky, clip, other, norm};
  Choose(problems);
  problems.assign(5, Scaled(FromDouble(0.1f)));
  problems[1].quantization.clamp_high = 30;
  problems[2].quantization.clamp_low = -30;
  problems[3].quantization.zero_point = 1;
  problems[4].quantization.scale = FromDouble(0.9f);
  const RequantPlan plan = Choose(problems);
  EXPECT_FALSE(plan.common_clamp);
  EXPECT_FALSE(plan.common_zero_point);
}

TEST(ChooseRequant, DegenerateChannels) {
  std::vector<ChannelProblem> problems;
  ChannelProblem point = Scaled(FromDouble(0.1f), 0);
  point.steps.push_back(Add{FromDouble(2.49)});
  problems.push_back(point);
  ChannelProblem huge_bias = Scaled(FromDouble(0.1f), INT32_MAX);
  huge_bias.steps.push_back(Add{FromDouble(1e38)});
  problems.push_back(huge_bias);
  ChannelProblem tiny_scale = Scaled(FromDouble(0.1f), INT32_MAX);
  tiny_scale.quantization.scale = FromDouble(1e-38);
  problems.push_back(tiny_scale);
  ChannelProblem huge_scale = Scaled(FromDouble(0.1f), INT32_MAX);
  huge_scale.quantization.scale = FromDouble(1e38);
  problems.push_back(huge_scale);
  ChannelProblem far_range = Scaled(FromDouble(1e-17), 0);
  far_range.acc_low = -(std::int64_t{1} << 62);
  far_range.acc_high = std::int64_t{1} << 62;
  for (const ChannelProblem& p : problems) Choose({&p, 1});
  EXPECT_EQ(Choose(problems).form, RequantForm::kMultiply64);
  problems.push_back(far_range);
  Choose(problems);
}

TEST(ChooseRequant, RefusesWithTheChannelAndTheReason) {
  std::vector<ChannelProblem> problems = {Scaled(FromDouble(0.1f)),
                                          Scaled(Fraction(1, 6))};
  RequantResult result =
      ChooseRequant(problems, FormBit(RequantForm::kMultiply64));
  EXPECT_FALSE(result.plan);
  EXPECT_EQ(result.refusal, "channel 1: no allowed form is exact");
  problems[0].quantization.scale = 0;
  result = ChooseRequant(problems);
  EXPECT_EQ(result.refusal, "channel 0: the output's scale is zero");
  result = ChooseRequant({});
  ASSERT_TRUE(result.plan);
  EXPECT_TRUE(result.plan->channels.empty());
}

// Public reports of wrong rounding, rebuilt with their numbers.

TEST(ChooseRequantReports, FloatProductThatLooksLikeATie) {
  // tensorflow/tensorflow#102943: 6.50000047 is 7, not the even 6.
  ChannelProblem p = Scaled(FromDouble(0.05296124517917633f), 100'000);
  p.steps.push_back(Multiply{FromDouble(0.024093778803944588f)});
  p.quantization.scale = FromDouble(0.11484327912330627f);
  p.quantization.zero_point = -126;
  const RequantPlan plan = Choose({&p, 1});
  EXPECT_EQ(Evaluate(plan.form, plan.channels[0], 585), -119);
}

TEST(ChooseRequantReports, BiasBeyondInt32) {
  // onnxruntime PR#22020: bias / (input scale * weight scale) = 1.275e10.
  std::vector<ChannelProblem> problems;
  for (const double bias : {5.0, -4.5}) {
    ChannelProblem p = Scaled(Fraction(1, 2), 127 * 255 * 9);
    p.steps.push_back(Multiply{FromDouble(7.843e-10f)});
    p.steps.push_back(Add{FromDouble(bias)});
    p.quantization.scale = FromDouble(0.04f);
    problems.push_back(p);
  }
  const RequantPlan plan = Choose(problems);
  EXPECT_EQ(Evaluate(plan.form, plan.channels[0], 0), 125);
  // -4.5 / 0.04f = -112.5000025.
  EXPECT_EQ(Evaluate(plan.form, plan.channels[1], 0), -113);
}

TEST(ChooseRequantReports, HalfPrecisionQuantize) {
  // onnxruntime#18576: 2.5 -> 2, 5.5 -> 6, 62.5 -> 62 (in quarters here).
  const ChannelProblem p = Scaled(Fraction(1, 4));
  const RequantPlan plan = Choose({&p, 1});
  EXPECT_EQ(Evaluate(plan.form, plan.channels[0], 10), 2);
  EXPECT_EQ(Evaluate(plan.form, plan.channels[0], 22), 6);
  EXPECT_EQ(Evaluate(plan.form, plan.channels[0], 250), 62);
}

}  // namespace
}  // namespace fold::exact
