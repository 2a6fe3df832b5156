#include "compiler/exact/table_entry.h"

#include <gtest/gtest.h>

#include "compiler/exact/naive_chain.h"

namespace fold::exact {
namespace {

TEST(TableEntry, EveryEntryOfRationalChains) {
  std::mt19937_64 random(41);
  for (int i = 0; i < 8; ++i) {
    TableProblem problem;
    problem.zero_point = RandomInt(&random, -128, 127);
    problem.scale = RandomFloat(&random, 0.01, 0.1);
    problem.steps = {Multiply{RandomFloat(&random, -2, 2)},
                     LeakyRelu{RandomFloat(&random, -1, 1)},
                     Add{RandomFloat(&random, -1, 1)}};
    problem.quantization.scale = RandomFloat(&random, -0.1, 0.1);
    problem.quantization.zero_point = RandomInt(&random, -128, 127);
    ASSERT_EQ(FindFault(problem), std::nullopt);
    std::vector<ChainStep> steps = problem.steps;
    steps.insert(steps.begin(), Multiply{problem.scale});
    const std::vector<TableEntry> entries = EvaluateTable(problem);
    ASSERT_EQ(entries.size(), 256u);
    for (std::int64_t code = -128; code <= 127; ++code) {
      ASSERT_EQ(
          entries[code + 128].code,
          NaiveCode(code - problem.zero_point, steps, problem.quantization));
    }
  }
}

TEST(TableEntry, AgreesWithTheStepFunctionOnIrrationalChains) {
  std::mt19937_64 random(42);
  for (int i = 0; i < 4; ++i) {
    TableProblem problem;
    problem.scale = RandomFloat(&random, 0.01, 0.1);
    problem.steps = {
        BatchNorm{RandomFloat(&random, -2, 2), RandomFloat(&random, -1, 1),
                  RandomFloat(&random, -1, 1), RandomFloat(&random, 0.1, 2), 0},
        BatchNorm{RandomFloat(&random, -2, 2), RandomFloat(&random, -1, 1),
                  RandomFloat(&random, -1, 1), RandomFloat(&random, 0.1, 2),
                  0}};
    problem.quantization.scale = RandomFloat(&random, 0.01, 0.1);
    std::vector<ChainStep> steps = problem.steps;
    steps.insert(steps.begin(), Multiply{problem.scale});
    const std::vector<TableEntry> entries = EvaluateTable(problem);
    for (std::int64_t code = -128; code <= 127; ++code) {
      ASSERT_EQ(entries[code + 128].code,
                NaiveCode<mpf_class>(code, steps, problem.quantization));
    }
  }
}

TEST(TableEntry, HalfEvenTiesOfRequantize) {
  TableProblem problem;
  problem.scale = Fraction(1, 2);
  const std::vector<TableEntry> entries = EvaluateTable(problem);
  EXPECT_EQ(entries[128 + 1].code, 0);   // 0.5
  EXPECT_EQ(entries[128 + 3].code, 2);   // 1.5
  EXPECT_EQ(entries[128 + 5].code, 2);   // 2.5
  EXPECT_EQ(entries[128 - 1].code, 0);   // -0.5
  EXPECT_EQ(entries[128 - 3].code, -2);  // -1.5
}

TEST(TableEntry, ReciprocalSaturatesBySignAndFlagsNan) {
  TableProblem problem;
  problem.scale = Fraction(1, 10);
  problem.steps = {Reciprocal{Rational(-1)}};
  problem.quantization.scale = Fraction(1, 4);
  problem.quantization.zero_point = 5;
  std::vector<TableEntry> entries = EvaluateTable(problem);
  EXPECT_EQ(entries[128].code, -128);
  EXPECT_EQ(entries[128].kind, ValueKind::kNegativeInfinity);
  EXPECT_EQ(entries[129].code, 5 - 40);
  EXPECT_EQ(entries[126].code, 5 + 20);
  EXPECT_EQ(entries[126].kind, ValueKind::kFinite);
  problem.quantization.scale = Fraction(-1, 4);
  EXPECT_EQ(EvaluateTable(problem)[128].code, 127);
  problem.steps = {Reciprocal{Rational(1)}};
  EXPECT_EQ(EvaluateTable(problem)[128].code, -128);
  problem.steps = {Reciprocal{Rational(0)}};
  entries = EvaluateTable(problem);
  EXPECT_EQ(entries[128].kind, ValueKind::kNan);
  EXPECT_EQ(entries[128].code, 5);
  EXPECT_EQ(entries[127].kind, ValueKind::kFinite);
  problem.quantization.clamp_low = 20;
  EXPECT_EQ(EvaluateTable(problem)[128].code, 20);
}

TEST(TableEntry, SixteenBitCodes) {
  TableProblem problem;
  problem.code_low = 0;
  problem.code_high = 65535;
  problem.zero_point = 32768;
  problem.scale = FromDouble(0.0003f);
  problem.steps = {LeakyRelu{FromDouble(0.1f)}};
  problem.quantization = {.scale = FromDouble(0.0002f),
                          .zero_point = 100,
                          .code_low = 0,
                          .code_high = 65535};
  std::vector<ChainStep> steps = problem.steps;
  steps.insert(steps.begin(), Multiply{problem.scale});
  const std::vector<TableEntry> entries = EvaluateTable(problem);
  ASSERT_EQ(entries.size(), 65536u);
  for (std::int64_t code = 0; code <= 65535; code += 101) {
    ASSERT_EQ(entries[code].code,
              NaiveCode(code - 32768, steps, problem.quantization));
  }
}

TEST(TableEntry, Faults) {
  TableProblem problem;
  problem.code_high = -129;
  EXPECT_TRUE(FindFault(problem));
  problem.code_high = 65408;
  EXPECT_TRUE(FindFault(problem));
  problem.code_high = 127;
  problem.steps = {BatchNorm{1, 1, 1, Rational(-1), 1}};
  EXPECT_TRUE(FindFault(problem));
  problem.steps = {Reciprocal{0}, Divide{Rational(0)}, LeakyRelu{-1}};
  EXPECT_FALSE(FindFault(problem));
}

}  // namespace
}  // namespace fold::exact
