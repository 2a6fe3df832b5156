#include "compiler/exact/requant_form.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

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

TEST(RequantForm, VerifyComparesEveryAccumulator) {
  ChannelProblem problem;
  problem.acc_low = -400;
  problem.acc_high = 400;
  problem.steps = {Multiply{Fraction(3, 10)}};
  // Brute force over a neighbourhood of good and bad parameters.
  int good = 0, bad = 0;
  for (std::int64_t m = 300; m <= 315; ++m) {
    for (Int128 c = 480; c <= 545; c += 3) {
      const FormParameters p = Parameters(m, c, 10);
      bool equal = true;
      for (std::int64_t acc = -400; acc <= 400 && equal; ++acc) {
        equal = Evaluate(RequantForm::kMultiply64, p, acc) ==
                NaiveCode(acc, problem.steps, problem.quantization);
      }
      EXPECT_EQ(Verify(problem, RequantForm::kMultiply64, p), equal);
      ++(equal ? good : bad);
    }
  }
  EXPECT_EQ(good, 0);  // 5 * 0.3 = 1.5: ties, where no floor form is right
  EXPECT_GT(bad, 0);
}

TEST(RequantForm, VerifyAcceptsExactlyTheExactFloors) {
  ChannelProblem problem;
  problem.acc_low = -60;
  problem.acc_high = 60;
  problem.steps = {Multiply{FromDouble(0.3f)}, Add{Fraction(1, 64)}};
  int good = 0;
  for (std::int64_t m = 4800; m <= 5030; ++m) {
    for (Int128 c = 8190; c <= 8700; c += 5) {
      const FormParameters p = Parameters(m, c, 14);
      bool equal = true;
      for (std::int64_t acc = -60; acc <= 60 && equal; ++acc) {
        equal = Evaluate(RequantForm::kMultiply64, p, acc) ==
                NaiveCode(acc, problem.steps, problem.quantization);
      }
      ASSERT_EQ(Verify(problem, RequantForm::kMultiply64, p), equal);
      good += equal ? 1 : 0;
    }
  }
  EXPECT_GT(good, 10);
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
