#include <gtest/gtest.h>

#include "compiler/exact/naive_chain.h"
#include "compiler/exact/two_input.h"

namespace fold::exact {
namespace {

// A lattice of pairs with coprime steps, and the corners.
void ExpectExact(const TwoInputProblem& p, const TwoInputPlan& plan) {
  const std::int64_t step_a = (p.a.code_high - p.a.code_low) / 17 + 1;
  const std::int64_t step_b = (p.b.code_high - p.b.code_low) / 60 + 1;
  for (std::int64_t a = p.a.code_low; a <= p.a.code_high; a += step_a) {
    for (std::int64_t b = p.b.code_low; b <= p.b.code_high; b += step_b) {
      ASSERT_EQ(Evaluate(p, plan, a, b), NaivePair(p, a, b)) << a << " " << b;
    }
  }
}

TwoInputPlan Choose(const TwoInputProblem& problem,
                    TwoInputFormSet allowed = kAllTwoInputForms) {
  const TwoInputResult result = ChooseTwoInput(problem, allowed);
  EXPECT_TRUE(result.plan) << result.refusal;
  if (!result.plan) return {};
  ExpectExact(problem, *result.plan);
  return *result.plan;
}

TwoInputProblem Scales(const Rational& a, const Rational& b,
                       const Rational& output) {
  TwoInputProblem problem;
  problem.a.scale = a;
  problem.b.scale = b;
  problem.quantization.scale = output;
  return problem;
}

TEST(TwoInputSearch, RandomFloatScales) {
  std::mt19937_64 random(61);
  int floors = 0;
  for (int i = 0; i < 12; ++i) {
    TwoInputProblem problem =
        Scales(RandomFloat(&random, 0.01, 0.1), RandomFloat(&random, 0.01, 0.1),
               RandomFloat(&random, 0.02, 0.2));
    problem.a.zero_point = RandomInt(&random, -128, 127);
    problem.b.zero_point = RandomInt(&random, -128, 127);
    problem.quantization.zero_point = RandomInt(&random, -128, 127);
    problem.subtract = i % 2 == 1;
    if (i % 3 == 2) problem.steps = {Relu{}};
    const TwoInputPlan plan = Choose(problem);
    EXPECT_NE(plan.form, TwoInputForm::kTable);
    floors += plan.form == TwoInputForm::kMultiply64 ? 1 : 0;
    // Every form is available for ordinary scales.
    EXPECT_EQ(Choose(problem, 1u << 2).form, TwoInputForm::kRemainder);
  }
  EXPECT_GE(floors, 10);
}

TEST(TwoInputSearch, EqualPowersOfTwoTie) {
  const TwoInputPlan plan =
      Choose(Scales(Fraction(1, 16), Fraction(1, 32), Fraction(1, 8)));
  EXPECT_EQ(plan.form, TwoInputForm::kHalfEven64);
  EXPECT_TRUE(plan.tie_reachable);
}

TEST(TwoInputSearch, DecimalScalesTieByAccident) {
  // As float32 numbers these are no decimals, and yet
  // -115 * 0.0253 + 46 * 0.0358 = -34.5 * 0.0366 exactly, so that a floor form
  // fails and the remainder decides.
  TwoInputProblem problem =
      Scales(FromDouble(0.0253f), FromDouble(0.0358f), FromDouble(0.0366f));
  const TwoInputPlan plan = Choose(problem);
  EXPECT_TRUE(plan.tie_reachable);
  EXPECT_EQ(plan.form, TwoInputForm::kRemainder);
  EXPECT_EQ(Evaluate(problem, plan, -115, 46), -34);
  EXPECT_EQ(Choose(problem, 1u << 3).form, TwoInputForm::kTable);
}

TEST(TwoInputSearch, BatchNormAndLeakyReluAfterTheSum) {
  TwoInputProblem problem =
      Scales(FromDouble(0.02f), FromDouble(0.03f), FromDouble(0.05f));
  problem.steps = {BatchNorm{1, Fraction(1, 3), Fraction(1, 7), 2, 0}};
  const TwoInputResult result = ChooseTwoInput(problem);
  ASSERT_TRUE(result.plan);
  EXPECT_EQ(result.plan->form, TwoInputForm::kMultiply64);
  problem.steps = {LeakyRelu{FromDouble(0.1f)}};
  EXPECT_EQ(Choose(problem).form, TwoInputForm::kTable);
}

TEST(TwoInputSearch, DegenerateScales) {
  Choose(Scales(FromDouble(1e-30), FromDouble(1.0), FromDouble(0.02)));
  Choose(Scales(FromDouble(1.0), FromDouble(1e-30), FromDouble(0.02)));
  Choose(Scales(FromDouble(1e30), FromDouble(1e30), FromDouble(1e-30)));
  Choose(Scales(FromDouble(1e-30), FromDouble(1e-30), FromDouble(1e30)));
  TwoInputProblem problem =
      Scales(FromDouble(0.1), FromDouble(-0.2), FromDouble(0.3));
  Choose(problem);
  problem.steps = {Multiply{Rational(0)}, Add{Fraction(7, 2)}};
  EXPECT_EQ(Choose(problem).form, TwoInputForm::kMultiply64);
  problem.a.code_low = problem.a.code_high = 3;  // one code
  Choose(problem);
}

TEST(TwoInputSearch, SixteenBitCodesWithoutEnumeration) {
  TwoInputProblem problem =
      Scales(FromDouble(0.00031f), FromDouble(0.00017f), FromDouble(0.00042f));
  problem.a.code_low = problem.b.code_low = 0;
  problem.a.code_high = problem.b.code_high = 65535;
  problem.a.zero_point = 32768;
  problem.b.zero_point = 1000;
  problem.steps = {Relu{}};
  problem.quantization.zero_point = 20;
  problem.quantization.code_low = 0;
  problem.quantization.code_high = 65535;
  EXPECT_EQ(Choose(problem).form, TwoInputForm::kRemainder);
  problem.a.scale = problem.b.scale = Fraction(1, 1024);
  problem.quantization.scale = Fraction(1, 512);
  EXPECT_EQ(Choose(problem).form, TwoInputForm::kHalfEven64);
  problem.a.scale = FromDouble(1e-30);
  const TwoInputResult result = ChooseTwoInput(problem);
  EXPECT_FALSE(result.plan);
  EXPECT_FALSE(result.refusal.empty());
}

// Public reports of wrong rounding, rebuilt with their numbers.

TEST(TwoInputSearchReports, ManySumsOnHalfCodes) {
  // onnxruntime#32132: float32 scales 0.08, 0.12, 0.16 are no exact tie.
  Choose(Scales(FromDouble(0.08f), FromDouble(0.12f), FromDouble(0.16f)));
  // The same with scales whose ratios are exact: half-even decides.
  const TwoInputPlan plan =
      Choose(Scales(Fraction(8, 100), Fraction(12, 100), Fraction(16, 100)));
  EXPECT_TRUE(plan.tie_reachable);
}

TEST(TwoInputSearchReports, AlmostATie) {
  // onnxruntime#25512: -7.50000794 is -8, so the code is -113.
  TwoInputProblem problem = Scales(FromDouble(0.02534690499305725f),
                                   FromDouble(0.035809919238090515f),
                                   FromDouble(0.0365859717130661f));
  problem.a.zero_point = -106;
  problem.b.zero_point = -120;
  problem.quantization.zero_point = -105;
  const TwoInputPlan plan = Choose(problem);
  EXPECT_EQ(Evaluate(problem, plan, -114, -122), -113);
}

}  // namespace
}  // namespace fold::exact
