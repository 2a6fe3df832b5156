#include "compiler/exact/exact_value.h"

#include <gtest/gtest.h>

#include <vector>

#include "compiler/exact/naive_chain.h"

namespace fold::exact {
namespace {

ExactValue Apply(const Rational& start, std::vector<ChainStep> steps) {
  return ApplySteps(start, steps);
}

TEST(ExactValue, FollowsRationalChains) {
  std::mt19937_64 random(31);
  for (int i = 0; i < 100; ++i) {
    const std::vector<ChainStep> steps = {
        Multiply{RandomFloat(&random, -1, 1)},
        Add{RandomFloat(&random, -1, 1)},
        LeakyRelu{RandomFloat(&random, -1, 1)},
        Clip{RandomFloat(&random, -9, 0), RandomFloat(&random, 0, 9)},
        BatchNorm{RandomFloat(&random, -1, 1), 1, 2, Fraction(9, 4), 0},
        Divide{RandomFloat(&random, 1, 2)},
        Relu{}};
    const std::int64_t start = RandomInt(&random, -40, 40);
    const ExactValue value = ApplySteps(FromInt64(start), steps);
    ASSERT_EQ(value.kind, ValueKind::kFinite);
    EXPECT_EQ(CompareWith(value, NaiveReal<Rational>(start, steps)), 0);
  }
}

TEST(ExactValue, ReciprocalOfASumOfRoots) {
  // 1 / ((1 - 0) / sqrt(2) + 1) = 2 - sqrt(2) = 0.5857864376…
  const ExactValue value = Apply(1, {BatchNorm{1, 1, 0, 1, 1}, Reciprocal{1}});
  EXPECT_EQ(CompareWith(value, Rational("5857864376") / 10000000000), 1);
  EXPECT_EQ(CompareWith(value, Rational("5857864377") / 10000000000), -1);
  // Negative denominators keep the order.
  const ExactValue negative =
      Apply(1, {BatchNorm{1, 1, 0, 1, 1}, Multiply{-1}, Reciprocal{1}});
  EXPECT_EQ(CompareWith(negative, Rational("-5857864376") / 10000000000), -1);
}

TEST(ExactValue, InfinitiesTravelThroughSteps) {
  const auto kind = [](const Rational& start, std::vector<ChainStep> steps) {
    return Apply(start, std::move(steps)).kind;
  };
  EXPECT_EQ(kind(0, {Reciprocal{2}}), ValueKind::kPositiveInfinity);
  EXPECT_EQ(kind(0, {Reciprocal{-2}}), ValueKind::kNegativeInfinity);
  EXPECT_EQ(kind(0, {Reciprocal{0}}), ValueKind::kNan);
  EXPECT_EQ(kind(3, {Divide{0}}), ValueKind::kPositiveInfinity);
  EXPECT_EQ(kind(-3, {Divide{0}}), ValueKind::kNegativeInfinity);
  EXPECT_EQ(kind(0, {Divide{0}}), ValueKind::kNan);
  EXPECT_EQ(kind(0, {Reciprocal{2}, Multiply{-1}}),
            ValueKind::kNegativeInfinity);
  EXPECT_EQ(kind(0, {Reciprocal{2}, Multiply{0}}), ValueKind::kNan);
  EXPECT_EQ(kind(0, {Reciprocal{2}, Add{-5}, Relu{}}),
            ValueKind::kPositiveInfinity);
  EXPECT_EQ(kind(0, {Reciprocal{-2}, Relu{}}), ValueKind::kFinite);
  EXPECT_EQ(kind(0, {Reciprocal{2}, Clip{std::nullopt, 4}}),
            ValueKind::kFinite);
  EXPECT_EQ(kind(0, {Reciprocal{2}, Reciprocal{7}}), ValueKind::kFinite);
  EXPECT_EQ(kind(0, {Reciprocal{0}, Relu{}, Clip{1, 2}, Add{1}}),
            ValueKind::kNan);
  EXPECT_EQ(kind(0, {Reciprocal{-2}, LeakyRelu{0}}), ValueKind::kNan);
  EXPECT_EQ(kind(0, {Reciprocal{2}, BatchNorm{-1, 5, 5, 2, 1}}),
            ValueKind::kNegativeInfinity);
}

}  // namespace
}  // namespace fold::exact
