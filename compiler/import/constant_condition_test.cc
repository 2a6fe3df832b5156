#include "compiler/import/constant_condition.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

using Numbers = std::vector<int64_t>;

TensorPtr Scalar(int64_t value, ElementType type = ElementType::i64) {
  return MakeIntegerTensor(type, {}, {value});
}

TensorPtr List(const Numbers& values, ElementType type = ElementType::i64) {
  return MakeIntegerTensor(type, {static_cast<int64_t>(values.size())}, values);
}

// The node `text`, an operator and its attributes, on operands a, b, c.
TensorPtr Evaluate(const std::string& text,
                   const std::vector<TensorPtr>& operands) {
  const char* const names[] = {"", "a", "a, b", "a, b, c"};
  const auto model =
      ParseGraph("g (int64 a, int64 b, int64 c) => (int64 y) { y = " + text +
                 "(" + names[operands.size()] + ") }");
  return EvaluateSmall(model.graph().node(0), operands);
}

std::optional<Numbers> NumbersOf(const TensorPtr& tensor) {
  if (tensor == nullptr) return std::nullopt;
  Numbers numbers;
  for (int64_t i = 0; i < tensor->size(); ++i) {
    numbers.push_back(tensor->integer(i));
  }
  return numbers;
}

TEST(ConstantCondition, Comparisons) {
  struct Case {
    const char* op;
    bool less, equal, greater;
  };
  for (const Case& c :
       {Case{"Equal", false, true, false}, Case{"Less", true, false, false},
        Case{"LessOrEqual", true, true, false},
        Case{"Greater", false, false, true},
        Case{"GreaterOrEqual", false, true, true}}) {
    const TensorPtr result = Evaluate(c.op, {List({1, 2, 3}), Scalar(2)});
    EXPECT_EQ(NumbersOf(result), (Numbers{c.less, c.equal, c.greater})) << c.op;
    EXPECT_EQ(result->type, ElementType::boolean);
  }
}

TEST(ConstantCondition, Logic) {
  const TensorPtr a = List({0, 0, 1, 1}, ElementType::boolean);
  const TensorPtr b = List({0, 1, 0, 1}, ElementType::boolean);
  EXPECT_EQ(NumbersOf(Evaluate("And", {a, b})), (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(NumbersOf(Evaluate("Or", {a, b})), (Numbers{0, 1, 1, 1}));
  EXPECT_EQ(NumbersOf(Evaluate("Xor", {a, b})), (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(NumbersOf(Evaluate("Not", {b})), (Numbers{1, 0, 1, 0}));
  EXPECT_EQ(Evaluate("Not", {Scalar(1)}), nullptr);
}

TEST(ConstantCondition, Arithmetic) {
  EXPECT_EQ(NumbersOf(Evaluate("Add", {List({1, 2}), List({3, 4})})),
            (Numbers{4, 6}));
  EXPECT_EQ(NumbersOf(Evaluate("Sub", {Scalar(1), Scalar(3)})), (Numbers{-2}));
  EXPECT_EQ(NumbersOf(Evaluate("Mul", {Scalar(5), List({3})})), (Numbers{15}));
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Evaluate("Add", {Scalar(most), Scalar(1)}), nullptr);
  EXPECT_EQ(Evaluate("Mul", {Scalar(most), Scalar(2)}), nullptr);
  EXPECT_EQ(
      Evaluate("Add", {Scalar(1, ElementType::i8), Scalar(1, ElementType::i8)}),
      nullptr);
  EXPECT_EQ(Evaluate("Add", {List({1, 2}), List({1, 2, 3})}), nullptr);
}

TEST(ConstantCondition, ShapesAndTheirElements) {
  const TensorPtr shape = List({2, 3, 5});
  EXPECT_EQ(NumbersOf(Evaluate("Shape", {shape})), (Numbers{2, 3, 5}));
  EXPECT_EQ(NumbersOf(Evaluate("Shape <start = -2>", {shape})),
            (Numbers{3, 5}));
  EXPECT_EQ(NumbersOf(Evaluate("Shape <start = 1, end = 2>", {shape})),
            (Numbers{3}));
  EXPECT_EQ(NumbersOf(Evaluate("Size", {shape})), (Numbers{30}));
  EXPECT_EQ(NumbersOf(Evaluate("Gather", {shape, Scalar(-1)})), (Numbers{5}));
  EXPECT_EQ(NumbersOf(Evaluate("Gather", {shape, List({1, 0})})),
            (Numbers{3, 2}));
  EXPECT_EQ(Evaluate("Gather", {shape, Scalar(3)}), nullptr);
  EXPECT_EQ(NumbersOf(Evaluate("Concat <axis = 0>", {shape, List({7})})),
            (Numbers{2, 3, 5, 7}));
}

TEST(ConstantCondition, Forms) {
  EXPECT_EQ(Evaluate("Squeeze", {List({4})})->shape, Shape{});
  EXPECT_EQ(Evaluate("Squeeze", {List({4, 5})}), nullptr);
  EXPECT_EQ(Evaluate("Unsqueeze", {Scalar(4), List({0})})->shape, Shape{1});
  EXPECT_EQ(Evaluate("Reshape", {Scalar(4), List({-1})})->shape, Shape{1});
  EXPECT_EQ(Evaluate("Reshape", {List({4}), List({})})->shape, Shape{});
  EXPECT_EQ(NumbersOf(Evaluate("Cast <to = 9>", {List({0, 7})})),
            (Numbers{0, 1}));
  EXPECT_EQ(Evaluate("Cast <to = 7>", {List({1}, ElementType::boolean)})->type,
            ElementType::i64);
  EXPECT_EQ(Evaluate("Cast <to = 1>", {Scalar(1)}), nullptr);
}

TEST(ConstantCondition, ConstantNodes) {
  EXPECT_EQ(NumbersOf(Evaluate("Constant <value_int = 3>", {})), (Numbers{3}));
  EXPECT_EQ(NumbersOf(Evaluate("Constant <value_ints = [3, 4]>", {})),
            (Numbers{3, 4}));
  EXPECT_EQ(NumbersOf(Evaluate("Constant <value = bool {1}>", {})),
            (Numbers{1}));
  EXPECT_EQ(Evaluate("Constant <value_float = 1.0>", {}), nullptr);
}

TEST(ConstantCondition, WhatIsNotEvaluated) {
  EXPECT_EQ(Evaluate("Relu", {Scalar(1)}), nullptr);
  EXPECT_EQ(Evaluate("Identity", {nullptr}), nullptr);
  const Numbers many(kLargestCondition + 1);
  EXPECT_EQ(Evaluate("Identity", {List(many)}), nullptr);
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::BOOL);
  EXPECT_EQ(SmallTensor(tensor), nullptr);  // no data
  tensor.add_int32_data(1);
  EXPECT_NE(SmallTensor(tensor), nullptr);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  EXPECT_EQ(SmallTensor(tensor), nullptr);
}

}  // namespace
}  // namespace fold::importer
