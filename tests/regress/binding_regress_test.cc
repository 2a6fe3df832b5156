// Scales and biases: what a bias counts, and parameters that are none.
#include <gtest/gtest.h>

#include "tests/regress/compiled.h"

namespace fold::regress {
namespace {

// onnxruntime#24711: the bias has a scale of its own, not x_scale * w_scale.
TEST(BindingRegress, BiasWithAScaleOfItsOwn) {
  const auto result = ExpectIdeal(
      ModelOf("g (float[1,3,8,8] x) => (uint8[1,4,8,8] y)"
              " <float sx = {0.02}, uint8 zx = {128}, float sw = {0.01},"
              "  int8 zw = {0}, float sb = {0.001}, int32 zb = {0},"
              "  float sy = {0.1}, uint8 zy = {128},"
              "  int8[4,3,3,3] w = " +
              DrawnList(1, 108, -128, 127) +
              ","
              "  int32[4] b = {1000, -2000, 3000, 50}> {"
              " q = QuantizeLinear(x, sx, zx)"
              " dx = DequantizeLinear(q, sx, zx)"
              " dw = DequantizeLinear(w, sw, zw)"
              " db = DequantizeLinear(b, sb, zb)"
              " c = Conv <pads = [1, 1, 1, 1]> (dx, dw, db)"
              " y = QuantizeLinear(c, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only);
}

// onnxruntime PR#22020: bias / (x_scale * w_scale) = 1.275e10.
TEST(BindingRegress, BiasBeyondThirtyTwoBits) {
  const auto result = ExpectIdeal(
      ModelOf("g (float[1,2,4,4] x) => (int8[1,2,4,4] y)"
              " <float sx = {0.5}, int8 z = {0}, float sw = {7.843e-10},"
              "  float sy = {0.05}, int8 zy = {-3},"
              "  int8[2,2,1,1] w = {127, -90, 3, 100},"
              "  float[2] b = {5, -4.5}> {"
              " q = QuantizeLinear(x, sx, z) dx = DequantizeLinear(q, sx, z)"
              " dw = DequantizeLinear(w, sw, z)"
              " c = Conv(dx, dw, b)"
              " y = QuantizeLinear(c, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only);
}

// torch-mlir#4645: a bias counts x_scale * w_scale[c] a step.
TEST(BindingRegress, QLinearConvBiasPerChannel) {
  ExpectIdeal(ModelOf(
      "g (uint8[1,2,5,5] x) => (uint8[1,4,3,3] y)"
      " <float sx = {0.05}, uint8 zx = {120},"
      "  float[4] sw = {0.01, 0.02, 0.03, 0.04}, int8[4] zw = {0,0,0,0},"
      "  float sy = {0.07}, uint8 zy = {100},"
      "  int8[4,2,3,3] w = " +
      DrawnList(2, 72, -128, 127) +
      ","
      "  int32[4] b = {100, 100, 100, 100}> {"
      " y = QLinearConv(x, sx, zx, w, sw, zw, sy, zy, b) }"));
}

// A QGemm's alpha scales its sums and its C alike.
TEST(BindingRegress, QGemmAlphaAndBias) {
  for (const char* alpha : {"1.0", "0.5"}) {
    ExpectIdeal(
        ModelOf("g (uint8[2,6] x) => (uint8[2,3] y)"
                " <float sx = {0.05}, uint8 zx = {120},"
                "  float[3] sw = {0.01, 0.02, 0.03}, int8[3] zw = {0, 0, 0},"
                "  float sy = {0.07}, uint8 zy = {100},"
                "  int8[6,3] w = " +
                DrawnList(3, 18, -128, 127) +
                ","
                "  int32[3] b = {3000, -2000, 1000}> {"
                " y = com.microsoft.QGemm <alpha = " +
                alpha +
                "> "
                "(x, sx, zx, w, sw, zw, b, sy, zy) }"));
  }
}

// AMDMIGraphX#4235: a scale of zero is named, not removed as dead code.
TEST(BindingRegress, ScaleOfZero) {
  ExpectRefusal(ModelOf("g (int8[4] x) => (float[4] y)"
                        " <float s = {0}, int8 z = {0}, float two = {2}> {"
                        " [dq] d = DequantizeLinear(x, s, z)"
                        " y = Mul(d, two) }"),
                DiagnosticCode::bad_scale, "dq");
  ExpectRefusal(ModelOf("g (float[4] x) => (int8[4] y)"
                        " <float s = {0}, int8 z = {0}> {"
                        " [q] y = QuantizeLinear(x, s, z) }"),
                DiagnosticCode::bad_scale, "q");
}

// onnxruntime#21176: a negative scale turns the order of codes round.
TEST(BindingRegress, NegativeScaleBeforeMaxPool) {
  ExpectRefusal(ModelOf("g (int8[1,1,4,4] x) => (int8[1,1,2,2] y)"
                        " <float s = {-0.5}, int8 z = {0}> {"
                        " [dq] d = DequantizeLinear(x, s, z)"
                        " m = MaxPool <kernel_shape = [2, 2],"
                        " strides = [2, 2]> (d)"
                        " y = QuantizeLinear(m, s, z) }"),
                DiagnosticCode::bad_scale, "dq");
}

// onnxruntime#4032: a scale that is computed at run time.
TEST(BindingRegress, DynamicScale) {
  ExpectRefusal(ModelOf("g (float[4] x) => (float[4] y)"
                        " <float n = {127}, uint8 z = {0}> {"
                        " m = ReduceMean <keepdims = 0> (x)"
                        " s = Div(m, n)"
                        " [q] c = QuantizeLinear(x, s, z)"
                        " y = DequantizeLinear(c, n, z) }"),
                DiagnosticCode::dynamic_quantization, "q");
}

// … and one that is computed from constants.
TEST(BindingRegress, ScaleComputedFromConstants) {
  ExpectIdeal(
      ModelOf("g (float[6] x) => (uint8[6] y)"
              " <float a = {0.5}, float b = {8}, uint8 z = {7}> {"
              " s = Div(a, b)"
              " t = Identity(s)"
              " y = QuantizeLinear(x, t, z) }"));
}

TEST(BindingRegress, DynamicQuantizeLinear) {
  ExpectRefusal(ModelOf("g (float[4] x) => (uint8[4] y) {"
                        " [dyn] y, s, z = DynamicQuantizeLinear(x) }"),
                DiagnosticCode::dynamic_quantization, "dyn");
}

// The type of codes may come from output_dtype alone.
TEST(BindingRegress, CodesTypeFromOutputDtype) {
  const auto model = ModelOf(
      "g (float[1,4] x) => (int8[1,2] y)"
      " <float s = {0.05}, float sw = {0.02}, float sy = {0.25}, int8 z = {0},"
      "  float[4,2] w = {0.31, -1.2, 0.77, 1.9, -2.5, 0.01, 0.5, -0.33}> {"
      " q = QuantizeLinear(x, s, z) dx = DequantizeLinear(q, s, z)"
      " qw = QuantizeLinear <output_dtype = 3> (w, sw)"
      " dw = DequantizeLinear(qw, sw)"
      " p = MatMul(dx, dw)"
      " y = QuantizeLinear(p, sy, z) }",
      21);
  EXPECT_TRUE(ExpectIdeal(model).report.artifact.integer_only);
}

}  // namespace
}  // namespace fold::regress
