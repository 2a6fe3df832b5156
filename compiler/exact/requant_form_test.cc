#include "compiler/exact/requant_form.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "compiler/exact/naive_chain.h"

namespace fold::exact {
namespace {

FormParameters Parameters(std::int64_t m, Int128 c, int s) {
  FormParameters p;
  p.multiplier = m;
  p.addend = c;
  p.shift = s;
  p.low = -128;
  p.high = 127;
  return p;
}

TEST(RequantForm, NamesAreDistinct) {
  std::set<std::string> names;
  for (int i = 0; i < kRequantFormCount; ++i) {
    names.insert(std::string(Name(RequantForm{i})));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kRequantFormCount));
}

TEST(RequantForm, EvaluateFloorsAndRoundsHalfEven) {
  FormParameters p = Parameters(3, 1, 1);
  EXPECT_EQ(Evaluate(RequantForm::kMultiply64, p, 2), 3);    // 7 / 2
  EXPECT_EQ(Evaluate(RequantForm::kMultiply64, p, -2), -3);  // -5 / 2
  EXPECT_EQ(Evaluate(RequantForm::kMultiply128, p, -2), -3);
  EXPECT_EQ(Evaluate(RequantForm::kHalfEven64, p, 2), 4);
  EXPECT_EQ(Evaluate(RequantForm::kHalfEven64, p, -2), -2);
  p.divisor = 2;
  p.zero_point = 10;
  EXPECT_EQ(Evaluate(RequantForm::kRemainder, p, 2), 14);
  EXPECT_EQ(Evaluate(RequantForm::kRemainder, p, -2), 8);
  p.divisor = 3;
  EXPECT_EQ(Evaluate(RequantForm::kRemainder, p, -1), 9);  // -2 / 3
  EXPECT_EQ(Evaluate(RequantForm::kMultiply64, p, 1000), 127);
  EXPECT_EQ(Evaluate(RequantForm::kMultiply64, p, -1000), -128);
}

// Counts the exact ones among floor forms near the problem's slope, by brute
// force, and checks that Verify says the same of each of them.
int CountExact(const ChannelProblem& problem, std::int64_t m_low,
               std::int64_t m_high, Int128 c_low, Int128 c_high, int shift) {
  std::vector<std::int64_t> codes;
  for (std::int64_t acc = problem.acc_low; acc <= problem.acc_high; ++acc) {
    codes.push_back(NaiveCode(acc, problem.steps, problem.quantization));
  }
  const StepFunction ideal = IdealSteps(problem);
  int exact = 0;
  for (std::int64_t m = m_low; m <= m_high; ++m) {
    for (Int128 c = c_low; c <= c_high; c += (c_high - c_low) / 50) {
      const FormParameters p = Parameters(m, c, shift);
      bool equal = true;
      for (std::size_t i = 0; i < codes.size() && equal; ++i) {
        const std::int64_t acc = problem.acc_low + static_cast<std::int64_t>(i);
        equal = Evaluate(RequantForm::kMultiply64, p, acc) == codes[i];
      }
      EXPECT_EQ(Verify(ideal, RequantForm::kMultiply64, p), equal);
      exact += equal ? 1 : 0;
    }
  }
  return exact;
}

TEST(RequantForm, VerifyRejectsEveryFloorWhereTiesDisagree) {
  ChannelProblem problem;
  problem.acc_low = -400;
  problem.acc_high = 400;
  problem.steps = {Multiply{Fraction(3, 10)}};  // 5 * 0.3 = 1.5
  EXPECT_EQ(CountExact(problem, 300, 315, 480, 545, 10), 0);
}

TEST(RequantForm, VerifyAcceptsExactlyTheExactFloors) {
  ChannelProblem problem;
  problem.acc_low = -60;
  problem.acc_high = 60;
  problem.steps = {Multiply{FromDouble(0.3f)}, Add{Fraction(1, 64)}};
  EXPECT_GT(CountExact(problem, 4860, 4970, 6500, 10500, 14), 10);
}

TEST(RequantForm, VerifyLooksAtBothEnds) {
  ChannelProblem problem;
  problem.acc_low = -20;
  problem.acc_high = 20;
  problem.steps = {Clip{Rational(-9), Rational(9)}};
  FormParameters p = Parameters(1, 0, 0);
  EXPECT_FALSE(Verify(problem, RequantForm::kMultiply64, p));
  p.low = -9;
  EXPECT_FALSE(Verify(problem, RequantForm::kMultiply64, p));
  p.high = 9;
  EXPECT_TRUE(Verify(problem, RequantForm::kMultiply64, p));
  p.low = -128;
  EXPECT_FALSE(Verify(problem, RequantForm::kMultiply64, p));
}

TEST(RequantForm, VerifyEnforcesLimits) {
  ChannelProblem problem;  // a constant: any slope of zero is right
  problem.acc_low = 0;
  problem.acc_high = 0;
  const auto check = [&problem](RequantForm form, const FormParameters& p) {
    return Verify(problem, form, p);
  };
  EXPECT_TRUE(check(RequantForm::kMultiply64, Parameters(0, 0, 0)));
  EXPECT_TRUE(check(RequantForm::kMultiply64, Parameters(INT32_MAX, 0, 62)));
  EXPECT_FALSE(
      check(RequantForm::kMultiply64, Parameters(Int128{1} << 31, 0, 62)));
  EXPECT_FALSE(check(RequantForm::kMultiply64, Parameters(1, 0, 63)));
  EXPECT_FALSE(check(RequantForm::kMultiply64, Parameters(1, 0, -1)));
  EXPECT_FALSE(
      check(RequantForm::kMultiply64, Parameters(1, Int128{1} << 63, 62)));
  EXPECT_TRUE(
      check(RequantForm::kMultiply128, Parameters(1, Int128{1} << 63, 126)));
  EXPECT_FALSE(check(RequantForm::kMultiply128, Parameters(1, 0, 127)));
  FormParameters p = Parameters(1, 0, 0);
  p.divisor = 0;
  EXPECT_FALSE(check(RequantForm::kRemainder, p));
  p.divisor = -1;
  EXPECT_FALSE(check(RequantForm::kRemainder, p));
  p.divisor = 1;
  EXPECT_TRUE(check(RequantForm::kRemainder, p));
  p.low = 1;
  p.high = 0;
  EXPECT_FALSE(check(RequantForm::kRemainder, p));
}

TEST(RequantForm, VerifyRejectsOverflowAtTheEnds) {
  ChannelProblem problem;  // everything saturates at 127
  problem.acc_low = std::int64_t{1} << 40;
  problem.acc_high = std::int64_t{1} << 41;
  EXPECT_TRUE(
      Verify(problem, RequantForm::kMultiply64, Parameters(1 << 21, 0, 20)));
  EXPECT_FALSE(Verify(problem, RequantForm::kMultiply64,
                      Parameters(1 << 22, 0, 20)));  // 2^63
  EXPECT_TRUE(
      Verify(problem, RequantForm::kMultiply128, Parameters(1 << 22, 0, 20)));
}

TEST(RequantForm, ThresholdsMustAscend) {
  ChannelProblem problem;
  problem.acc_low = 0;
  problem.acc_high = 3;
  FormParameters p;
  p.thresholds = {1, 2, 3};
  EXPECT_TRUE(Verify(problem, RequantForm::kThresholds, p));
  EXPECT_EQ(Evaluate(RequantForm::kThresholds, p, 2), 2);
  p.thresholds = {2, 1, 3};
  EXPECT_FALSE(Verify(problem, RequantForm::kThresholds, p));
  p.thresholds = {1, 2};
  EXPECT_FALSE(Verify(problem, RequantForm::kThresholds, p));
  p.thresholds = {1, 2, 3};
  p.first_code = 1;
  EXPECT_FALSE(Verify(problem, RequantForm::kThresholds, p));
  p.first_code = 0;
  p.increasing = false;
  EXPECT_FALSE(Verify(problem, RequantForm::kThresholds, p));
}

TEST(RequantForm, FitsInt32BeforeTheClamp) {
  EXPECT_TRUE(FitsInt32BeforeClamp(RequantForm::kMultiply64,
                                   Parameters(1, 0, 0), -5, INT32_MAX));
  EXPECT_FALSE(FitsInt32BeforeClamp(RequantForm::kMultiply64,
                                    Parameters(1, 1, 0), -5, INT32_MAX));
}

}  // namespace
}  // namespace fold::exact
