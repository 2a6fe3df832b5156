#include "compiler/exact/affine_output.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace fold::exact {
namespace {

TEST(AffineOutput, ExactWhereADoubleHoldsTheProduct) {
  const std::vector<ChainStep> steps = {Multiply{FromDouble(0.1f)},
                                        Multiply{FromDouble(0.3f)},
                                        Add{FromDouble(1.5f)}};
  const auto output = AffineOutputOf(steps);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->scale, double{0.1f} * double{0.3f});
  EXPECT_TRUE(output->scale_exact);
  EXPECT_EQ(output->offset, 1.5);
  EXPECT_TRUE(output->offset_exact);
}

TEST(AffineOutput, RoundsOnceAndSaysSo) {
  const std::vector<ChainStep> steps = {Add{Rational(1)}, Divide{Rational(3)}};
  const auto output = AffineOutputOf(steps);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->scale, 1.0 / 3.0);
  EXPECT_FALSE(output->scale_exact);
  EXPECT_EQ(output->offset, 1.0 / 3.0);
  EXPECT_FALSE(output->offset_exact);
}

TEST(AffineOutput, IrrationalBatchNorm) {
  const std::vector<ChainStep> steps = {
      BatchNorm{Rational(2), Rational(1), Rational(3), Rational(1), 1}};
  const auto output = AffineOutputOf(steps);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->scale, std::sqrt(2.0));  // 2 / sqrt(2)
  EXPECT_FALSE(output->scale_exact);
  // 1 - 3 sqrt(2) = -3.2426406871192851464…
  EXPECT_EQ(output->offset, -3.2426406871192851464);
}

TEST(AffineOutput, RefusesWhatIsNotAffine) {
  const ChainStep bad[] = {Relu{},
                           Clip{},
                           LeakyRelu{Rational(1)},
                           Reciprocal{1},
                           Divide{Rational(0)},
                           BatchNorm{1, 0, 0, 0, 0}};
  for (const ChainStep& step : bad) {
    EXPECT_FALSE(AffineOutputOf(std::vector<ChainStep>{step})) << step.index();
  }
  const Rational huge = FromDouble(1e300);
  const std::vector<ChainStep> overflow = {Multiply{huge}, Multiply{huge}};
  EXPECT_FALSE(AffineOutputOf(overflow));
}

TEST(AffineOutput, EmptyChainIsTheIdentity) {
  const auto output = AffineOutputOf({});
  ASSERT_TRUE(output);
  EXPECT_EQ(output->scale, 1);
  EXPECT_EQ(output->offset, 0);
}

}  // namespace
}  // namespace fold::exact
