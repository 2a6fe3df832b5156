// Branches, Concat and chains of conversions.
#include <gtest/gtest.h>

#include "tests/regress/compiled.h"

namespace fold::regress {
namespace {

// model-optimization#1053: two quantizations into one Concat.
TEST(BranchRegress, ConcatOfTwoQuantizations) {
  const auto result = ExpectIdeal(
      ModelOf("g (int8[1,3,2,2] a, int8[1,2,2,2] b) => (int8[1,5,2,2] y)"
              " <float sa = {0.046824861}, int8 za = {-1},"
              "  float sb = {0.003921362}, int8 zb = {-128}> {"
              " da = DequantizeLinear(a, sa, za)"
              " db = DequantizeLinear(b, sb, zb)"
              " c = Concat <axis = 1> (da, db)"
              " y = QuantizeLinear(c, sa, za) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// executorch#20486: a convolution with a Clip, beside the network's input.
TEST(BranchRegress, ConcatOfAConvolutionAndTheInput) {
  const auto result = ExpectIdeal(ModelOf(
      "g (float[1,2,3,4] x) => (float[1,2,3,8] y)"
      " <float sx = {0.04}, int8 zx = {-20}, float sw = {0.01},"
      "  int8 zw = {0}, float sc = {0.0235}, int8 zc = {-128},"
      "  float sy = {0.04}, int8 zy = {-25}, float lo = {0},"
      "  float hi = {6}, int8[2,2,1,1] w = {90, -100, 127, 30}> {"
      " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
      " dw = DequantizeLinear(w, sw, zw)"
      " c = Conv(dx, dw) r = Clip(c, lo, hi)"
      " qc = QuantizeLinear(r, sc, zc) dc = DequantizeLinear(qc, sc, zc)"
      " j = Concat <axis = 3> (dc, dx)"
      " qy = QuantizeLinear(j, sy, zy)"
      " y = DequantizeLinear(qy, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// executorch#19364: movement at the end, behind the last quantization.
TEST(BranchRegress, MovementBehindTheLastQuantization) {
  const auto result = ExpectIdeal(ModelOf(
      "g (float[2,6] x) => (float[3,2,2] y)"
      " <float sx = {0.04}, int8 zx = {-20}, float sw = {0.01},"
      "  int8 zw = {0}, float sy = {0.05}, int8 zy = {3},"
      "  int64[3] shape = {2, 2, 3}, int8[6,6] w = " +
      DrawnList(12, 36, -128, 127) +
      "> {"
      " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
      " dw = DequantizeLinear(w, sw, zw)"
      " p = MatMul(dx, dw)"
      " qp = QuantizeLinear(p, sy, zy) dp = DequantizeLinear(qp, sy, zy)"
      " r = Reshape(dp, shape)"
      " y = Transpose <perm = [2, 0, 1]> (r) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// onnxruntime PR#10934: one DequantizeLinear for a convolution, a residual sum
// and an operator that stays in float.
TEST(BranchRegress, OneDequantizeLinearForManyReaders) {
  const std::string head =
      "g (float[1,2,3,3] x) => (uint8[1,2,3,3] y, float[1,2,3,3] f)"
      " <float sx = {0.04}, uint8 zx = {100}, float sw = {0.01}, int8 zw = {0},"
      "  float sy = {0.06}, uint8 zy = {120}, float sc = {0.05},"
      "  int8[2,2,1,1] w = {90, -100, 127, 30}> {"
      " q = QuantizeLinear(x, sx, zx)";
  const std::string tail =
      " dw = DequantizeLinear(w, sw, zw)"
      " c = Conv(d1, dw)"
      " qc = QuantizeLinear(c, sc, zy) dc = DequantizeLinear(qc, sc, zy)"
      " s = Add(dc, d2)"
      " y = QuantizeLinear(s, sy, zy)"
      " f = MatMul(d1, d2) }";
  const auto shared = ExpectIdeal(ModelOf(
      head + " d1 = DequantizeLinear(q, sx, zx) d2 = Identity(d1)" + tail));
  const auto twice = ExpectIdeal(ModelOf(head +
                                         " d1 = DequantizeLinear(q, sx, zx)"
                                         " d2 = DequantizeLinear(q, sx, zx)" +
                                         tail));
  for (const auto* result : {&shared, &twice}) {
    EXPECT_TRUE(HasKind(*result, "conv")) << Describe(*result);
    EXPECT_TRUE(HasKind(*result, "add2") || HasKind(*result, "table_2"))
        << Describe(*result);
    EXPECT_TRUE(HasKind(*result, "f64_matmul")) << Describe(*result);
  }
}

// onnxruntime#11242: a Concat of one.
TEST(BranchRegress, ConcatOfOne) {
  for (const char* scale : {"0.04", "0.1"}) {
    const auto result = ExpectIdeal(
        ModelOf("g (uint8[2,5] x) => (uint8[2,5] y)"
                " <float sx = {0.04}, uint8 z = {100}, float sy = {" +
                std::string(scale) +
                "}> {"
                " d = DequantizeLinear(x, sx, z)"
                " c = Concat <axis = 1> (d)"
                " y = QuantizeLinear(c, sy, z) }"));
    EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
  }
}

// onnxruntime#13328: a convolution whose result nobody quantizes is its sums,
// with a scale and an offset.
TEST(BranchRegress, OutputWithoutAQuantization) {
  const auto result = ExpectIdeal(
      ModelOf("g (float[1,2,3,3] x) => (float[1,2,3,3] y)"
              " <float sx = {0.04}, uint8 zx = {100}, int8[2] zw = {0, 0},"
              "  float[2] sw = {0.01, 0.03}, float[2] b = {0.3, -1.7},"
              "  int8[2,2,1,1] w = {90, -100, 127, 30}> {"
              " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
              " dw = DequantizeLinear <axis = 0> (w, sw, zw)"
              " y = Conv(dx, dw, b) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// onnxruntime PR#7492: a DequantizeLinear that is an output, and is read.
TEST(BranchRegress, DequantizeLinearIsAnOutput) {
  const auto result = ExpectIdeal(
      ModelOf("g (float[2,4] x) => (float[2,4] d, uint8[2,4] y)"
              " <float s = {0.04}, uint8 z = {100}, float sy = {0.1}> {"
              " q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z)"
              " a = Add(d, d)"
              " y = QuantizeLinear(a, sy, z) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// TensorRT#3861: a residual sum, with and without a quantization of the
// convolution's own.
TEST(BranchRegress, ResidualSums) {
  const std::string head =
      "g (float[1,2,3,3] x) => (uint8[1,2,3,3] y)"
      " <float sx = {0.04}, uint8 zx = {100}, float sw = {0.0101}, int8 zw = "
      "{0},"
      "  float sy = {0.0613}, uint8 zy = {120}, float sc = {0.0517},"
      "  int8[2,2,1,1] w = {90, -100, 127, 30}> {"
      " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
      " dw = DequantizeLinear(w, sw, zw)"
      " c = Conv(dx, dw)";
  ExpectIdeal(
      ModelOf(head + " s = Add(c, dx) y = QuantizeLinear(s, sy, zy) }"));
  const auto result = ExpectIdeal(
      ModelOf(head + " qc = QuantizeLinear(c, sc, zy)"
                     " dc = DequantizeLinear(qc, sc, zy)"
                     " s = Add(dc, dx) y = QuantizeLinear(s, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// apache/tvm#12707: a branch that leads nowhere goes away.
TEST(BranchRegress, UnusedBranch) {
  const auto result = ExpectIdeal(
      ModelOf("g (int8[2,4] x) => (int8[2,4] y)"
              " <float s = {0.04}, int8 z = {1}, float sy = {0.1}> {"
              " d = DequantizeLinear(x, s, z)"
              " y = QuantizeLinear(d, sy, z)"
              " a = Add(d, d) lost = QuantizeLinear(a, sy, z) }"));
  EXPECT_EQ(result.report.ops.size(), 1u) << Describe(result);
}

// onnxruntime#10595: two equal DequantizeLinear nodes on one tensor.
TEST(BranchRegress, TwoEqualDequantizeLinears) {
  const auto result = ExpectIdeal(ModelOf(
      "g (float[1,3,4,4] x) => (uint8[1,3,4,4] y, uint8[1,3,4,4] u)"
      " <float s = {0.03}, uint8 z = {110}, float sw = {0.01}, int8 zw = {0},"
      "  float sy = {0.1}, uint8 zy = {128}, int8[3,3,1,1] w = " +
      DrawnList(61, 9, -128, 127) +
      "> {"
      " q = QuantizeLinear(x, s, z)"
      " a = DequantizeLinear(q, s, z) b = DequantizeLinear(q, s, z)"
      " dw = DequantizeLinear(w, sw, zw)"
      " c = Conv(a, dw) y = QuantizeLinear(c, sy, zy)"
      " d = Add(a, b) u = QuantizeLinear(d, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// An initializer that a branch and the graph around it read, with two
// quantizations: neither reader's values change.
TEST(BranchRegress, ConstantOfABranchAndItsParent) {
  for (const char* condition : {"1", "0"}) {
    const auto result = ExpectIdeal(ModelOf(
        "g (float[2,4] x) => (uint8[2,4] y, uint8[2,4] u)"
        " <float s = {0.03}, uint8 z = {110}, float sw = {0.01}, int8 zw = {3},"
        "  float sv = {0.02}, int8 zv = {-8}, bool c = {" +
        std::string(condition) +
        "},"
        "  float sy = {0.1}, uint8 zy = {128}, int8[4,4] w = " +
        DrawnList(62, 16, -128, 127) +
        "> {"
        " q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z)"
        " dw = DequantizeLinear(w, sw, zw)"
        " m = MatMul(d, dw) u = QuantizeLinear(m, sy, zy)"
        " [choose] r = If (c) <"
        "  then_branch = t () => (float[2,4] a) {"
        "   dw = DequantizeLinear(w, sv, zv) a = MatMul(d, dw) },"
        "  else_branch = e () => (float[2,4] b) {"
        "   v = DequantizeLinear(w, sw, zw) b = Gemm <transB = 1> (d, v) }>"
        " y = QuantizeLinear(r, sy, zy) }"));
    EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
  }
}

// The condition follows from a shape; the branch reads three graphs' values.
TEST(BranchRegress, IfThatAShapeDecides) {
  ExpectIdeal(ModelOf(
      "g (float[1,5] x) => (uint8[5] y)"
      " <float s = {0.03}, uint8 z = {110}, int64 zero = {0}, int64 one = {1},"
      "  int64[1] axes = {0}> {"
      " q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z)"
      " r = Relu(d)"
      " shape = Shape(r) size = Gather(shape, zero) is = Equal(size, one)"
      " [squeeze] h = If (is) <"
      "  then_branch = t () => (float[5] a) {"
      "   no = Not(is)"
      "   k = Add(r, d)"
      "   [inner] l = If (no) <"
      "    then_branch = t2 () => (float[1,5] i) { i = Mul(k, k) },"
      "    else_branch = e2 () => (float[1,5] j) { j = Sub(k, d) }>"
      "   a = Squeeze(l, axes) },"
      "  else_branch = e () => (float[1,5] b) { b = Identity(r) }>"
      " y = QuantizeLinear(h, s, z) }"));
}

}  // namespace
}  // namespace fold::regress
