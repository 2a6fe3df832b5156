#include "compiler/exact/two_input.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "compiler/exact/naive_chain.h"
#include "compiler/exact/two_input_rows.h"

namespace fold::exact {
namespace {

TwoInputProblem FloatProblem() {
  TwoInputProblem problem;
  problem.a = {-128, 127, -6, FromDouble(0.02534567f)};
  problem.b = {0, 255, 120, FromDouble(0.03587654f)};
  problem.quantization.scale = FromDouble(0.03661234f);
  problem.quantization.zero_point = -5;
  return problem;
}

TEST(TwoInput, RowsAreTheMeaningOfEveryPair) {
  std::mt19937_64 random(51);
  for (int i = 0; i < 6; ++i) {
    TwoInputProblem problem = FloatProblem();
    problem.subtract = i % 2 == 1;
    if (i >= 2) problem.steps = {Relu{}, Multiply{RandomFloat(&random, -1, 1)}};
    if (i >= 4) problem.quantization.scale = Fraction(-1, 16);
    const TwoInputRows ideal = IdealRows(problem);
    ASSERT_EQ(ideal.rows.size(), 256u);
    EXPECT_TRUE(ideal.has_slope);
    for (std::int64_t a = -128; a <= 127; a += 37) {
      for (std::int64_t b = 0; b <= 255; ++b) {
        ASSERT_EQ(ideal.rows[a + 128].Code(b), NaivePair(problem, a, b));
      }
    }
  }
}

TEST(TwoInput, VerifyRejectsEveryFlip) {
  const TwoInputProblem problem = FloatProblem();
  const TwoInputResult result = ChooseTwoInput(problem);
  ASSERT_TRUE(result.plan);
  ASSERT_EQ(result.plan->form, TwoInputForm::kMultiply64);
  EXPECT_TRUE(Verify(problem, *result.plan));
  TwoInputPlan plan = *result.plan;
  plan.addend += std::int64_t{1} << (plan.shift - 1);
  EXPECT_FALSE(Verify(problem, plan));
  plan = *result.plan;
  plan.multiplier_a += plan.multiplier_a / 64;
  EXPECT_FALSE(Verify(problem, plan));
  plan = *result.plan;
  plan.high -= 1;
  EXPECT_FALSE(Verify(problem, plan));
  plan = *result.plan;
  plan.shift += 1;
  EXPECT_FALSE(Verify(problem, plan));
}

TEST(TwoInput, VerifyLooksAtEveryTableEntry) {
  const TwoInputProblem problem = FloatProblem();
  const TwoInputResult result = ChooseTwoInput(problem, 1u << 3);
  ASSERT_TRUE(result.plan);
  ASSERT_EQ(result.plan->form, TwoInputForm::kTable);
  EXPECT_TRUE(Verify(problem, *result.plan));
  for (const std::size_t index : {0u, 255u, 30000u, 65535u}) {
    TwoInputPlan plan = *result.plan;
    plan.table[index] ^= 1;
    EXPECT_FALSE(Verify(problem, plan)) << index;
  }
  TwoInputPlan plan = *result.plan;
  plan.table.pop_back();
  EXPECT_FALSE(Verify(problem, plan));
}

TEST(TwoInput, LimitsCountThePartialSums) {
  TwoInputProblem problem = FloatProblem();
  TwoInputPlan plan;
  plan.form = TwoInputForm::kRemainder;
  plan.multiplier_a = std::int64_t{1} << 54;
  EXPECT_TRUE(KeepsLimits(problem, plan));  // 2^61
  plan.multiplier_b = std::int64_t{1} << 54;
  EXPECT_FALSE(KeepsLimits(problem, plan));
  plan.multiplier_b = 0;
  plan.form = TwoInputForm::kMultiply64;
  EXPECT_FALSE(KeepsLimits(problem, plan));  // 31 bits
  plan.multiplier_a = 1;
  plan.addend = INT64_MIN;
  EXPECT_FALSE(KeepsLimits(problem, plan));
  plan.addend = 0;
  plan.shift = 63;
  EXPECT_FALSE(KeepsLimits(problem, plan));
}

TEST(TwoInput, Faults) {
  TwoInputProblem problem = FloatProblem();
  EXPECT_FALSE(FindFault(problem));
  problem.a.scale = 0;
  EXPECT_TRUE(FindFault(problem));
  EXPECT_FALSE(ChooseTwoInput(problem).plan);
  problem = FloatProblem();
  problem.b.code_high = -1;
  EXPECT_TRUE(FindFault(problem));
  problem = FloatProblem();
  problem.steps = {Reciprocal{1}};
  EXPECT_TRUE(FindFault(problem));
}

TEST(TwoInput, NamesAreDistinct) {
  std::set<std::string> names;
  for (int i = 0; i < kTwoInputFormCount; ++i) {
    names.insert(std::string(Name(TwoInputForm{i})));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kTwoInputFormCount));
}

}  // namespace
}  // namespace fold::exact
