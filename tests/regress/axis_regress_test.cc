// Scales along an axis: which axis, and what becomes of it.
#include <gtest/gtest.h>

#include "tests/regress/compiled.h"

namespace fold::regress {
namespace {

// A quantized input `x` and its real numbers `dx`.
const char kInput[] =
    " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)";

// onnxruntime#12800: scales on axis 1 of what a Transpose makes the weights.
TEST(AxisRegress, TransposedWeights) {
  const auto result = ExpectIdeal(ModelOf(
      "g (float[1,3,6,6] x) => (uint8[1,4,4,4] y)"
      " <float sx = {0.03}, uint8 zx = {110},"
      "  float[4] sw = {0.01, 0.02, 0.005, 0.04}, int8[4] zw = {0,0,0,0},"
      "  float sy = {0.2}, uint8 zy = {128},"
      "  int8[3,4,3,3] w = " +
      DrawnList(5, 108, -128, 127) + "> {" + kInput +
      " dw = DequantizeLinear <axis = 1> (w, sw, zw)"
      " tw = Transpose <perm = [1, 0, 2, 3]> (dw)"
      " c = Conv(dx, tw)"
      " y = QuantizeLinear(c, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// onnxruntime#19694: scales along the reduction of a convolution are applied
// before the sum, never taken for output channels.
TEST(AxisRegress, ScalesAlongTheReduction) {
  ExpectIdeal(
      ModelOf("g (float[1,3,4,4] x) => (uint8[1,3,4,4] y)"
              " <float sx = {0.03}, uint8 zx = {110},"
              "  float[3] sw = {0.011, 0.023, 0.0057}, int8[3] zw = {0,0,0},"
              "  float sy = {0.0531}, uint8 zy = {128},"
              "  int8[3,3,1,1] w = {10,-20,30,-40,50,-60,70,-80,90}> {" +
              std::string(kInput) +
              " dw = DequantizeLinear <axis = 1> (w, sw, zw)"
              " [conv] c = Conv(dx, dw)"
              " y = QuantizeLinear(c, sy, zy) }"));
}

// onnxruntime-qnn#815: DequantizeLinear, QuantizeLinear, DequantizeLinear over
// the weights, and the twin with transB.
TEST(AxisRegress, RequantizedWeightsOfAGemm) {
  const std::string head =
      "g (float[2,8] x) => (uint8[2,3] y)"
      " <float sx = {0.03}, uint8 zx = {110}, int8[3] zw = {0, 0, 0},"
      "  float[3] sw = {0.01, 0.02, 0.005}, float[3] sv = {0.02, 0.02, 0.007},"
      "  float sy = {0.05}, uint8 zy = {128}, ";
  const auto tail = [](const std::string& axis, const std::string& trans) {
    return " d1 = DequantizeLinear <axis = " + axis +
           "> (w, sw, zw)"
           " q2 = QuantizeLinear <axis = " +
           axis +
           "> (d1, sv, zw)"
           " d2 = DequantizeLinear <axis = " +
           axis +
           "> (q2, sv, zw)"
           " p = Gemm <transB = " +
           trans +
           "> (dx, d2)"
           " y = QuantizeLinear(p, sy, zy) }";
  };
  const auto rows = ExpectIdeal(
      ModelOf(head + "int8[8,3] w = " + DrawnList(6, 24, -128, 127) + "> {" +
              kInput + tail("1", "0")));
  const auto columns = ExpectIdeal(
      ModelOf(head + "int8[3,8] w = " + DrawnList(6, 24, -128, 127) + "> {" +
              kInput + tail("0", "1")));
  EXPECT_TRUE(rows.report.artifact.integer_only) << Describe(rows);
  EXPECT_TRUE(columns.report.artifact.integer_only) << Describe(columns);
  EXPECT_TRUE(HasKind(rows, "fully_connected"));
  EXPECT_TRUE(HasKind(columns, "fully_connected"));
}

// apache/tvm#15931: one scale a column.
TEST(AxisRegress, MatMulPerColumn) {
  std::string scales = "{0.001";
  for (int i = 1; i < 10; ++i) scales += ", 0.00" + std::to_string(i + 1);
  const auto result =
      ExpectIdeal(ModelOf("g (float[1,64] x) => (float[1,10] y)"
                          " <float sx = {0.03}, uint8 zx = {110},"
                          "  float[10] sw = " +
                          scales +
                          "}, int8[10] zw = "
                          "{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, float sy = {0.11},"
                          "  int8 zy = {-4}, int8[64,10] w = " +
                          DrawnList(7, 640, -128, 127) + "> {" + kInput +
                          " dw = DequantizeLinear <axis = 1> (w, sw, zw)"
                          " p = MatMul(dx, dw)"
                          " c = QuantizeLinear(p, sy, zy)"
                          " y = DequantizeLinear(c, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// apache/tvm#13545: a tensor of one scale is per tensor.
TEST(AxisRegress, ScalesOfShapeOne) {
  const auto result =
      ExpectIdeal(ModelOf("g (float[2,4] x) => (uint8[2,3] y)"
                          " <float[1] sx = {0.03}, uint8[1] zx = {110},"
                          "  float[1] sw = {0.01}, int8[1] zw = {3},"
                          "  float[1] sy = {0.05}, uint8[1] zy = {128},"
                          "  int8[4,3] w = " +
                          DrawnList(8, 12, -128, 127) + "> {" + kInput +
                          " dw = DequantizeLinear(w, sw, zw)"
                          " p = MatMul(dx, dw)"
                          " y = QuantizeLinear(p, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// apache/tvm#9028: the default axis 1 is outside a vector, which does not
// matter to one scale …
TEST(AxisRegress, VectorWithOneScaleAndNoAxis) {
  const auto result = ExpectIdeal(
      ModelOf("g (float[2,4] x) => (uint8[2,3] y)"
              " <float sx = {0.03}, uint8 zx = {110}, float sw = {0.01},"
              "  int8 zw = {0}, float sb = {0.0003}, int32 zb = {0},"
              "  float sy = {0.05}, uint8 zy = {128},"
              "  int8[4,3] w = " +
              DrawnList(9, 12, -128, 127) +
              ","
              "  int32[3] b = {1000, -500, 2000}> {" +
              std::string(kInput) +
              " dw = DequantizeLinear(w, sw, zw)"
              " db = DequantizeLinear(b, sb, zb)"
              " p = Gemm(dx, dw, db)"
              " y = QuantizeLinear(p, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// … and is an error with several.
TEST(AxisRegress, VectorWithSeveralScalesAndNoAxis) {
  ExpectRefusal(ModelOf("g (int8[3] x) => (float[3] y)"
                        " <float[3] s = {1, 2, 3}, int8[3] z = {0, 0, 0}> {"
                        " [dq] y = DequantizeLinear(x, s, z) }"),
                DiagnosticCode::bad_axis, "dq");
}

// onnxruntime PR#21793: a vector's axis follows it through Unsqueeze.
TEST(AxisRegress, UnsqueezedScales) {
  for (const char* axes : {"{0, 1, 2}", "{-4, -3, -2}"}) {
    ExpectIdeal(
        ModelOf("g (float[1,2,2,3] x) => (uint8[1,2,2,3] y)"
                " <float sx = {0.03}, uint8 zx = {110},"
                "  float[3] sb = {0.0113, 0.0297, 0.0531},"
                "  int8[3] zb = {0, 0, 0}, float sy = {0.0513},"
                "  uint8 zy = {128}, int8[3] b = {50, -60, 127},"
                "  int64[3] axes = " +
                std::string(axes) + "> {" + kInput +
                " db = DequantizeLinear <axis = 0> (b, sb, zb)"
                " ub = Unsqueeze(db, axes)"
                " m = Mul(dx, ub)"
                " y = QuantizeLinear(m, sy, zy) }"));
  }
}

// onnxruntime PR#32649: the axis of the scales is beyond the rank of what is
// moved later.
TEST(AxisRegress, AxisBeyondTheRankOfALaterTranspose) {
  ExpectIdeal(ModelOf(
      "g (int8[2,3,2,4] x) => (uint8[4,12] y)"
      " <float[4] s = {0.03, 0.05, 0.011, 0.2}, int8[4] z = {0, -7, 100, 3},"
      "  float sy = {0.1}, uint8 zy = {128}, int64[2] shape = {12, 4}> {"
      " d = DequantizeLinear <axis = 3> (x, s, z)"
      " r = Reshape(d, shape)"
      " t = Transpose <perm = [1, 0]> (r)"
      " y = QuantizeLinear(t, sy, zy) }"));
}

}  // namespace
}  // namespace fold::regress
