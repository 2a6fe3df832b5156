// The evaluation that the other tests of this folder rest on, against numbers
// worked out by hand.
#include "tests/regress/ideal.h"

#include <gtest/gtest.h>

#include "tests/regress/compiled.h"

namespace fold::regress {
namespace {

std::vector<double> Evaluate(const std::string& graph,
                             const std::vector<double>& x, int version = 17) {
  const auto model = ModelOf(graph, version);
  Ideals values = InputsOf(
      model, [&](onnx::TensorProto_DataType, int64_t i) { return x[i]; });
  EXPECT_EQ(EvaluateIdeal(model, &values), "");
  std::vector<double> numbers;
  for (const auto& n : values[model.graph().output(0).name()].numbers) {
    numbers.push_back(n.get_d());
  }
  return numbers;
}

using Numbers = std::vector<double>;

TEST(Ideal, TiesGoToEven) {
  EXPECT_EQ(RoundHalfEven(mpq_class(5, 2)), 2);
  EXPECT_EQ(RoundHalfEven(mpq_class(7, 2)), 4);
  EXPECT_EQ(RoundHalfEven(mpq_class(-5, 2)), -2);
  EXPECT_EQ(RoundHalfEven(mpq_class(-7, 2)), -4);
  EXPECT_EQ(RoundHalfEven(mpq_class(-1, 2)), 0);
  EXPECT_EQ(RoundHalfEven(mpq_class(1, 3)), 0);
  EXPECT_EQ(RoundHalfEven(mpq_class(-2, 3)), -1);
  EXPECT_EQ(RoundHalfEven(mpq_class(4)), 4);
}

TEST(Ideal, QuantizeSaturatesBehindTheZeroPoint) {
  EXPECT_EQ(Evaluate("g (float[5] x) => (int8[5] y)"
                     " <float s = {0.5}, int8 z = {-3}> {"
                     " y = QuantizeLinear(x, s, z) }",
                     {0.25, 0.75, -1.25, 100, -100}),
            (Numbers{-3, -1, -5, 127, -128}));
}

TEST(Ideal, DequantizePerAxis) {
  EXPECT_EQ(Evaluate("g (int8[2,2] x) => (float[2,2] y)"
                     " <float[2] s = {0.5, 2}, int8[2] z = {1, -1}> {"
                     " y = DequantizeLinear <axis = 0> (x, s, z) }",
                     {1, 3, 0, -2}),
            (Numbers{0, 1, 2, -2}));
}

TEST(Ideal, ConvCountsPaddingAsZero) {
  EXPECT_EQ(Evaluate("g (float[1,1,3] x) => (float[1,1,3] y)"
                     " <float[1,1,3] w = {1, 2, 4}> {"
                     " y = Conv <pads = [1, 1]> (x, w) }",
                     {1, 2, 3}),
            (Numbers{10, 17, 8}));
}

TEST(Ideal, AveragePoolDivisors) {
  const std::string graph =
      "g (float[1,1,2,2] x) => (float[1,1,2,2] y) {"
      " y = AveragePool <kernel_shape = [2, 2], pads = [0, 0, 1, 1],"
      " count_include_pad = ";
  EXPECT_EQ(Evaluate(graph + "1> (x) }", {1, 1, 1, 1}),
            (Numbers{1, 0.5, 0.5, 0.25}));
  EXPECT_EQ(Evaluate(graph + "0> (x) }", {1, 1, 1, 1}), (Numbers{1, 1, 1, 1}));
}

TEST(Ideal, MatMulGemmAndTranspose) {
  EXPECT_EQ(Evaluate("g (float[2,2] x) => (float[2,2] y)"
                     " <float[2,2] w = {1, 2, 3, 4}> { y = MatMul(x, w) }",
                     {1, 0, 1, 1}),
            (Numbers{1, 2, 4, 6}));
  EXPECT_EQ(Evaluate("g (float[1,2] x) => (float[1,2] y)"
                     " <float[2,2] w = {1, 2, 3, 4}, float[2] b = {10, 20}> {"
                     " y = Gemm <transB = 1, beta = 2.0> (x, w, b) }",
                     {1, 1}),
            (Numbers{23, 47}));
  EXPECT_EQ(Evaluate("g (float[1,2,3] x) => (float[3,1,2] y) {"
                     " y = Transpose <perm = [2, 0, 1]> (x) }",
                     {1, 2, 3, 4, 5, 6}),
            (Numbers{1, 4, 2, 5, 3, 6}));
}

TEST(Ideal, ConcatPadAndReduceMean) {
  EXPECT_EQ(Evaluate("g (float[1,2] x) => (float[1,4] y) {"
                     " y = Concat <axis = -1> (x, x) }",
                     {1, 2}),
            (Numbers{1, 2, 1, 2}));
  EXPECT_EQ(Evaluate("g (float[1,2] x) => (float[2,3] y)"
                     " <int64[4] p = {0, 1, 1, 0}, float v = {7}> {"
                     " y = Pad(x, p, v) }",
                     {1, 2}),
            (Numbers{7, 1, 2, 7, 7, 7}));
  EXPECT_EQ(Evaluate("g (float[2,2] x) => (float[2] y) {"
                     " y = ReduceMean <axes = [0], keepdims = 0> (x) }",
                     {1, 2, 4, 8}),
            (Numbers{2.5, 5}));
}

}  // namespace
}  // namespace fold::regress
