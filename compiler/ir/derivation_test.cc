#include "compiler/ir/derivation.h"

#include <cmath>
#include <limits>

#include "compiler/ir/sheet_test_graph.h"

namespace fold {
namespace {

TensorType Codes(double scale, int64_t zero) {
  return {ElementType::i8, {}, PerTensor(scale, zero)};
}

TEST(Derivation, CodesOfNumbers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(CodeOfReal(0.75, Codes(0.5, 1)), 3);    // 1.5 to even, plus 1
  EXPECT_EQ(CodeOfReal(0.25, Codes(0.5, 0)), 0);    // 0.5 to even
  EXPECT_EQ(CodeOfReal(-0.75, Codes(0.5, 0)), -2);  // -1.5 to even
  EXPECT_EQ(CodeOfReal(kInfinity, Codes(0.5, 1)), 127);
  EXPECT_EQ(CodeOfReal(-kInfinity, Codes(0.5, 1)), -128);
  EXPECT_EQ(CodeOfReal(std::nan(""), Codes(0.5, 1)), 1);
  EXPECT_EQ(CodeOfReal(1e30, Codes(1e-30, 0)), 127);
  TensorType narrow = Codes(1, 0);
  narrow.encoding->code_high = 7;
  EXPECT_EQ(CodeOfReal(9, narrow), 7);
  TensorType floor = Codes(1, 0);
  floor.encoding->rounding = Rounding::kFloor;
  EXPECT_EQ(CodeOfReal(-0.5, floor), -1);
  EXPECT_EQ(CodeOfReal(1.99, floor), 1);
  TensorType sign = Codes(1, 0);
  sign.encoding->rounding = Rounding::kSign;
  EXPECT_EQ(CodeOfReal(0, sign), 1);
  EXPECT_EQ(CodeOfReal(-3, sign), -1);
}

// A float32 tie that a rounded quotient would miss.
TEST(Derivation, CodesNextToATie) {
  const auto scale = static_cast<double>(0.1f);
  const double tie = 2.5 * scale;
  EXPECT_EQ(CodeOfReal(tie, Codes(scale, 0)), 2);
  EXPECT_EQ(CodeOfReal(std::nextafter(tie, 1), Codes(scale, 0)), 3);
  EXPECT_EQ(CodeOfReal(std::nextafter(tie, 0), Codes(scale, 0)), 2);
}

TEST(Derivation, WhatDoesNotApply) {
  const Graph graph;
  const auto three = MakeIntegerTensor(ElementType::i8, {3}, {1, 2, 3});
  const auto derive = [&](const Derivation& step, const TensorType& goal) {
    return Derive(*three, step, goal, graph);
  };
  using Kind = Derivation::Kind;
  EXPECT_EQ(derive({Kind::kReshaped}, {ElementType::i8, {2}}), nullptr);
  EXPECT_EQ(derive({Kind::kPermuted, {1}}, {}), nullptr);
  EXPECT_EQ(derive({Kind::kPermuted, {0, 0}}, {}), nullptr);
  EXPECT_EQ(derive({Kind::kCollapsed}, {ElementType::i8, {}}), nullptr);
  EXPECT_EQ(derive({Kind::kNegated}, {}), nullptr);
  EXPECT_EQ(derive({Kind::kCast}, {ElementType::u4, {3}}) == nullptr, false);
  EXPECT_EQ(derive({Kind::kQuantized, {}, ValueId(7)}, {}), nullptr);
  EXPECT_EQ(derive({Kind::kEvaluated}, {}), nullptr);
  const auto big = MakeIntegerTensor(ElementType::i32, {1}, {300});
  EXPECT_EQ(Derive(*big, {Kind::kCast}, {ElementType::i8, {1}}, graph),
            nullptr);
}

TEST(Derivation, PermutesThreeAxes) {
  const auto from =
      MakeIntegerTensor(ElementType::i8, {1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorPtr to = PermuteTensor(*from, {2, 0, 1});
  EXPECT_EQ(to->shape, (Shape{3, 1, 2}));
  EXPECT_EQ(*to,
            *MakeIntegerTensor(ElementType::i8, {3, 1, 2}, {1, 4, 2, 5, 3, 6}));
}

TEST(Derivation, AxesFollow) {
  const Graph graph;
  using Kind = Derivation::Kind;
  const auto behind = [&](const Shape& from, int axis,
                          const std::vector<Derivation>& steps,
                          const Shape& to) {
    return AxisBehind(from, axis, steps, to, graph, nullptr);
  };
  EXPECT_EQ(behind({2, 3}, 0, {}, {2, 3}), 0);
  EXPECT_EQ(behind({2, 3}, 0, {{Kind::kPermuted, {1, 0}}}, {3, 2}), 1);
  EXPECT_EQ(behind({2, 3, 4}, 2,
                   {{Kind::kPermuted, {2, 0, 1}}, {Kind::kPermuted, {1, 2, 0}}},
                   {2, 3, 4}),
            2);
  EXPECT_EQ(behind({2, 3}, 1, {{Kind::kReshaped}}, {1, 2, 3, 1}), 2);
  EXPECT_EQ(behind({2, 3}, 1, {{Kind::kReshaped}}, {3, 2}), -1);
  EXPECT_EQ(behind({2, 3}, 1, {{Kind::kReshaped}}, {6}), -1);
  EXPECT_EQ(behind({2, 3}, 1, {{Kind::kNegated}}, {2, 3}), 1);
  EXPECT_EQ(behind({2, 3}, 1, {{Kind::kNamed}}, {2, 3}), -1);
  EXPECT_EQ(behind({2, 3}, 2, {{Kind::kPermuted, {1, 0}}}, {3, 2}), -1);
}

TEST(Derivation, SameNumbersAreSame) {
  const auto f32 = [](const std::vector<double>& numbers) {
    const auto count = static_cast<int64_t>(numbers.size());
    return MakeRealTensor(ElementType::f32, {count}, numbers);
  };
  EXPECT_TRUE(
      SameNumbers(*f32({0.0, std::nan("")}), *f32({-0.0, -std::nan("")})));
  EXPECT_FALSE(SameNumbers(*f32({1}), *f32({2})));
  EXPECT_FALSE(
      SameNumbers(*f32({1}), *MakeRealTensor(ElementType::f64, {1}, {1})));
}

}  // namespace
}  // namespace fold
