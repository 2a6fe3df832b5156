#include <gtest/gtest.h>

#include "runtime/format/test_artifact.h"

namespace fold::format {
namespace {

class CheckRequant : public ::testing::Test {
 protected:
  CheckRequant() {
    const int x = a.Arena(ElementType::S32, {2, 3});
    y = a.Arena(ElementType::S8, {2, 3});
    RequantizeParametersT p;
    p.axis = 1;
    p.requant = ShiftRequant(4, -128, 127);
    op = a.Add(Opcode::REQUANTIZE, std::move(p), {x}, y);
  }
  RequantT& r() { return *op->parameters.AsRequantizeParameters()->requant; }

  TestArtifact a;
  OpT* op;
  int y;
};

TEST_F(CheckRequant, OneOrAllChannels) {
  EXPECT_TRUE(Accepts(&a));
  r().multipliers = {1, 2, 3};
  EXPECT_TRUE(Refuses(&a, "1 addends"));
  r().addends = {1, 2, 3};
  r().shifts = {1, 2, 3};
  EXPECT_TRUE(Accepts(&a));
  r().multipliers = {1, 2};
  EXPECT_TRUE(Refuses(&a, "constants for 2 of 3 channels"));
  r().multipliers = {};
  EXPECT_TRUE(Refuses(&a, "constants for 0 of 3 channels"));
}

TEST_F(CheckRequant, Bounds) {
  r().hi = 128;
  EXPECT_TRUE(Refuses(&a, "codes from -128 to 128"));
  r().hi = -3;
  r().lo = -2;
  EXPECT_TRUE(Refuses(&a, "codes from -2 to -3"));
  r().lo = -129;
  EXPECT_TRUE(Refuses(&a, "codes from -129 to -3"));
}

TEST_F(CheckRequant, Shifts) {
  r().shifts = {62};
  EXPECT_TRUE(Accepts(&a));
  r().shifts = {63};
  EXPECT_TRUE(Refuses(&a, "shift 63"));
  r().form = RequantForm::MUL128;
  r().addends_high = {0};
  r().shifts = {126};
  EXPECT_TRUE(Accepts(&a));
  r().shifts = {127};
  EXPECT_TRUE(Refuses(&a, "shift 127"));
}

TEST_F(CheckRequant, MultiplierOfMul64HasThirtyTwoBits) {
  r().multipliers = {int64_t{INT32_MAX} + 1};
  EXPECT_TRUE(Refuses(&a, "needs more than 32 bits"));
  r().form = RequantForm::HALF_EVEN64;
  EXPECT_TRUE(Accepts(&a));
}

TEST_F(CheckRequant, Divisors) {
  r().form = RequantForm::REMAINDER;
  r().shifts = {};
  r().divisors = {6};
  EXPECT_TRUE(Accepts(&a));
  r().divisors = {0};
  EXPECT_TRUE(Refuses(&a, "divisor 0"));
  r().divisors = {-1};
  EXPECT_TRUE(Refuses(&a, "divisor -1"));
  r().divisors = {INT64_MAX};
  EXPECT_TRUE(Refuses(&a, "divisor"));
}

TEST_F(CheckRequant, Thresholds) {
  r() = RequantT();
  r().form = RequantForm::THRESHOLDS;
  r().lo = -128;
  r().hi = 127;
  r().threshold_count = 2;
  r().first_codes = {0, 0, 0};
  r().decreasing = {0, 1, 0};
  r().thresholds = {1, 2, -5, -5, 0, 1};
  EXPECT_TRUE(Accepts(&a));
  r().thresholds = {1, 2, -5, -6, 0, 1};
  EXPECT_TRUE(Refuses(&a, "thresholds descend"));
  r().thresholds = {1, 2, 3};
  EXPECT_TRUE(Refuses(&a, "3 thresholds"));
  r().threshold_count = UINT32_MAX;
  EXPECT_TRUE(Refuses(&a, "too many thresholds"));
  r().threshold_count = 0;
  r().thresholds = {};
  EXPECT_TRUE(Accepts(&a));
  r().decreasing = {};
  EXPECT_TRUE(Refuses(&a, "0 directions"));
}

TEST_F(CheckRequant, FieldsOfAnotherForm) {
  r().divisors = {1};
  EXPECT_TRUE(Refuses(&a, "1 divisors"));
}

TEST_F(CheckRequant, NoneAndUnknown) {
  r() = RequantT();
  EXPECT_TRUE(Refuses(&a, "raw accumulators in a tensor that is not S32"));
  r().form = static_cast<RequantForm>(6);
  EXPECT_TRUE(Refuses(&a, "unknown form"));
  op->parameters.AsRequantizeParameters()->requant.reset();
  EXPECT_TRUE(Refuses(&a, "no requantization"));
}

}  // namespace
}  // namespace fold::format
