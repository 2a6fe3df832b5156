// Relu and Clip before a QuantizeLinear: dropped only where saturation does
// the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/regress/compiled.h"

namespace fold::regress {
namespace {

std::string MatMulThen(const std::string& activation, const std::string& type,
                       const std::string& scale, const std::string& zero) {
  return "g (float[3,6] x) => (" + type +
         "[3,4] y)"
         " <float sx = {0.03}, uint8 zx = {110}, float sw = {0.01},"
         "  int8 zw = {0}, float zero = {0}, float six = {6}, float one = {1},"
         "  float minus = {-1}, int8[6,4] w = " +
         DrawnList(11, 24, -128, 127) + ", float sy = {" + scale + "}, " +
         type + " zy = {" + zero +
         "}> {"
         " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
         " dw = DequantizeLinear(w, sw, zw)"
         " p = MatMul(dx, dw)"
         " [act] a = " +
         activation + " [out] y = QuantizeLinear(a, sy, zy) }";
}

// onnxruntime#11660: without the Relu negative numbers leak through a zero
// point in the middle of the codes.
TEST(ClampRegress, ReluBeforeASymmetricQuantization) {
  const auto result =
      ExpectIdeal(ModelOf(MatMulThen("Relu(p)", "int8", "0.05", "0")));
  EXPECT_TRUE(result.report.artifact.integer_only);
  EXPECT_EQ(result.report.ops.size(), 1u) << Describe(result);
}

// onnxruntime PR#22580: scales that reach 6 and scales that do not.
TEST(ClampRegress, ClipAtSix) {
  for (const char* scale : {"0.023529412", "0.023483366", "0.05"}) {
    const auto result = ExpectIdeal(
        ModelOf(MatMulThen("Clip(p, zero, six)", "uint8", scale, "0")));
    EXPECT_EQ(result.report.ops.size(), 1u) << Describe(result);
  }
}

// Codes 28 and 228, behind a product and at the input.
TEST(ClampRegress, ClipAtOneWithAZeroPoint) {
  ExpectIdeal(
      ModelOf(MatMulThen("Clip(p, minus, one)", "uint8", "0.01", "128")));
  const auto model = ModelOf(
      "g (float[4] x) => (uint8[4] y)"
      " <float s = {0.01}, uint8 z = {128}, float lo = {-1}, float hi = {1}> {"
      " c = Clip(x, lo, hi)"
      " y = QuantizeLinear(c, s, z) }");
  const Ideals inputs =
      InputsOf(model, [](onnx::TensorProto_DataType, int64_t i) {
        return std::vector<double>{-9, -0.994, 0.3, 1.5}[i];
      });
  const auto result = ExpectIdeal(model, inputs);
  ASSERT_EQ(result.exit_code, 0);
  EXPECT_EQ(RunArtifact(result.artifact, inputs).outputs.at("y"),
            (std::vector<double>{28, 29, 158, 228}));
}

// onnxruntime#20975: where did the Relu go? The op says that it comes from it.
TEST(ClampRegress, AbsorbedReluIsASource) {
  const auto result =
      ExpectIdeal(ModelOf(MatMulThen("Relu(p)", "int8", "0.03", "-128")));
  ASSERT_EQ(result.report.ops.size(), 1u) << Describe(result);
  const auto& sources = result.report.ops[0].sources;
  for (const char* source : {"act", "out"}) {
    EXPECT_EQ(std::count(sources.begin(), sources.end(), source), 1) << source;
  }
}

// onnxruntime PR#26438: bounds that come from constant codes are the numbers
// that these stand for.
TEST(ClampRegress, BoundsBehindDequantizeLinear) {
  const char* const bounds[] = {
      "float sb = {0.05}, uint8 zb = {128}, uint8 lo = {128}, uint8 hi = {248}",
      "float sb = {0.0001}, uint16 zb = {65535}, uint16 lo = {15535},"
      " uint16 hi = {65535}"};
  for (const char* bound : bounds) {
    SCOPED_TRACE(bound);
    const auto model = ModelOf(
        "g (float[2,4] x) => (uint8[2,4] y)"
        " <float sx = {0.1}, uint8 zx = {100}, " +
            std::string(bound) +
            "> {"
            " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
            " l = DequantizeLinear(lo, sb, zb)"
            " h = DequantizeLinear(hi, sb, zb)"
            " [clip] c = Clip(dx, l, h)"
            " y = QuantizeLinear(c, sx, zx) }",
        21);
    const auto result = ExpectIdeal(model, 1, 12);
    EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
    EXPECT_EQ(result.report.ops.size(), 1u) << Describe(result);
  }
}

// A chain of clamps and a Clip without one bound.
TEST(ClampRegress, ChainsOfClamps) {
  ExpectIdeal(ModelOf(
      "g (float[2,8] x) => (int8[2,8] y)"
      " <float s = {0.03}, int8 z = {5}, float hi = {2}, float lo = {-0.5}> {"
      " a = Clip(x, lo) b = Clip(a, , hi)"
      " q = QuantizeLinear(b, s, z) d = DequantizeLinear(q, s, z)"
      " r = Relu(d) t = Clip(r, , hi)"
      " y = QuantizeLinear(t, s, z) }"));
}

// onnxruntime-qnn#586: the bounds' zero point is the top of 16 bits.
TEST(ClampRegress, BoundsBehindASixteenBitDequantizeLinear) {
  const auto result = ExpectIdeal(
      ModelOf("g (float[2,40] x) => (uint8[2,40] y)"
              " <float sx = {0.1}, uint8 zx = {100}, float sb = {0.05},"
              "  uint16 zb = {65535}, uint16 lo = {65415}, uint16 hi = {65535}>"
              " { q = QuantizeLinear(x, sx, zx)"
              " dx = DequantizeLinear(q, sx, zx)"
              " l = DequantizeLinear(lo, sb, zb)"
              " h = DequantizeLinear(hi, sb, zb)"
              " [clip] c = Clip(dx, l, h)"
              " y = QuantizeLinear(c, sx, zx) }",
              21),
      1, 12);
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

}  // namespace
}  // namespace fold::regress
