#include "compiler/ir/type.h"

#include <cmath>

#include "gtest/gtest.h"

namespace fold {
namespace {

TEST(ElementType, NamesReadBack) {
  for (int i = 0; i <= static_cast<int>(ElementType::boolean); ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(ParseElementType(ElementTypeName(type)), type);
  }
  EXPECT_FALSE(ParseElementType("i9").has_value());
}

TEST(Tensor, HalfPrecisionRoundsToEvenAndReadsBackExactly) {
  const std::vector<double> values = {
      0, 1, -2.5, 65504, 65519, 65520, 6e-8, 1 + 1.0 / 2048, 1 + 3.0 / 2048};
  const TensorPtr t = MakeRealTensor(ElementType::f16, {9}, values);
  EXPECT_EQ(t->real(0), 0);
  EXPECT_EQ(t->real(2), -2.5);
  EXPECT_EQ(t->real(3), 65504);
  EXPECT_EQ(t->real(4), 65504);  // nearer than infinity
  EXPECT_TRUE(std::isinf(t->real(5)));
  EXPECT_EQ(t->real(6), std::ldexp(1, -24));  // the smallest subnormal
  EXPECT_EQ(t->real(7), 1);                   // a tie, to even
  EXPECT_EQ(t->real(8), 1 + 2.0 / 1024);      // a tie, to even
}

TEST(Tensor, NarrowIntegersKeepTheirSign) {
  const TensorPtr t = MakeIntegerTensor(ElementType::i8, {3}, {-128, -1, 127});
  EXPECT_EQ(t->bytes.size(), 3u);
  EXPECT_EQ(t->integer(0), -128);
  EXPECT_EQ(t->integer(1), -1);
  EXPECT_EQ(t->real(2), 127);
  const TensorPtr u = MakeIntegerTensor(ElementType::u16, {1}, {65535});
  EXPECT_EQ(u->integer(0), 65535);
}

TEST(Encoding, PermutingMovesTheAxisWithTheData) {
  Encoding e;
  e.scales = {0.1, 0.2};
  e.zero_points = {0, 1};
  e.axis = 0;
  // New dimension 2 is old dimension 0.
  EXPECT_EQ(PermuteEncoding(e, {1, 2, 0}).axis, 2);
  e.axis = -1;
  EXPECT_EQ(PermuteEncoding(e, {1, 2, 0}).axis, -1);
}

TEST(Encoding, SourceIsNoPartOfEquality) {
  Encoding a, b;
  a.scales = b.scales = {0.5};
  a.zero_points = b.zero_points = {3};
  a.source = "q1";
  EXPECT_TRUE(a == b);
  b.code_high = 15;
  EXPECT_FALSE(a == b);
  EXPECT_EQ(FormatEncoding(b), "s=0.5 z=3 codes=[,15]");
}

}  // namespace
}  // namespace fold
