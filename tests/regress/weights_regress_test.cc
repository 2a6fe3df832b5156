// Weights as exporters write them, and 4-bit networks in 8-bit types.
#include <gtest/gtest.h>

#include <random>

#include "tests/regress/compiled.h"

namespace fold::regress {
namespace {

std::string DrawnReals(uint32_t seed, int count) {
  std::mt19937 engine(seed);
  std::string text;
  for (int i = 0; i < count; ++i) {
    const int drawn = static_cast<int>(engine() % 20001) - 10000;
    text += (i ? ", " : "{") + std::to_string(drawn / 10000.0);
  }
  return text + "}";
}

// onnxsim#216: float weights behind QuantizeLinear and DequantizeLinear become
// integers, once, and not four times as large.
TEST(WeightsRegress, FakeQuantizedFloatWeights) {
  const auto result = ExpectIdeal(ModelOf(
      "g (float[1,8,6,6] x) => (uint8[1,16,4,4] y)"
      " <float sx = {0.03}, uint8 zx = {110},"
      "  float[16] sw = " +
      DrawnList(21, 16, 1, 1) + ", int8[16] zw = " + DrawnList(22, 16, 0, 0) +
      ", float fine = {0.0078125},"
      "  float sy = {0.1}, uint8 zy = {128},"
      "  float[16,8,3,3] w = " +
      DrawnReals(23, 1152) +
      "> {"
      " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
      " s = Mul(sw, fine)"
      " qw = QuantizeLinear <axis = 0> (w, s, zw)"
      " dw = DequantizeLinear <axis = 0> (qw, s, zw)"
      " c = Conv(dx, dw)"
      " y = QuantizeLinear(c, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
  EXPECT_LT(result.report.artifact.constant_bytes, 1152 * 2);
}

TEST(WeightsRegress, UnsignedWeights) {
  const auto result = ExpectIdeal(ModelOf(
      "g (float[1,4,5,5] x) => (int8[1,3,3,3] y)"
      " <float sx = {0.03}, uint8 zx = {110},"
      "  float[3] sw = {0.01, 0.02, 0.005}, uint8[3] zw = {128, 3, 250},"
      "  float sy = {0.1}, int8 zy = {-7},"
      "  uint8[3,4,3,3] w = " +
      DrawnList(24, 108, 0, 255) +
      "> {"
      " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
      " dw = DequantizeLinear <axis = 0> (w, sw, zw)"
      " c = Conv(dx, dw)"
      " y = QuantizeLinear(c, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// onnxruntime-qnn#339: weights that are requantized once more, alike and
// otherwise.
TEST(WeightsRegress, ChainOfConversionsOverConstants) {
  for (const char* second : {"0.02", "0.031"}) {
    const auto result = ExpectIdeal(ModelOf(
        "g (float[2,6] x) => (uint8[2,4] y)"
        " <float sx = {0.03}, uint8 zx = {110}, float sw = {0.02},"
        "  int8 zw = {2}, float sv = {" +
        std::string(second) +
        "},"
        "  float sy = {0.1}, uint8 zy = {128},"
        "  int8[6,4] w = " +
        DrawnList(25, 24, -128, 127) +
        "> {"
        " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
        " d1 = DequantizeLinear(w, sw, zw)"
        " q2 = QuantizeLinear(d1, sv, zw)"
        " d2 = DequantizeLinear(q2, sv, zw)"
        " p = MatMul(dx, d2)"
        " y = QuantizeLinear(p, sy, zy) }"));
    EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
    EXPECT_TRUE(HasKind(result, "fully_connected")) << Describe(result);
  }
}

// One weight read with two quantizations.
TEST(WeightsRegress, OneConstantTwoQuantizations) {
  const auto result = ExpectIdeal(
      ModelOf("g (float[2,4] x) => (uint8[2,4] y, uint8[2,4] u)"
              " <float sx = {0.03}, uint8 zx = {110}, float sw = {0.02},"
              "  int8 zw = {2}, float sv = {0.0117}, int8 zv = {0},"
              "  float sy = {0.1}, uint8 zy = {128},"
              "  int8[4,4] w = " +
              DrawnList(26, 16, -128, 127) +
              "> {"
              " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
              " d1 = DequantizeLinear(w, sw, zw)"
              " d2 = DequantizeLinear(w, sv, zv)"
              " p = MatMul(dx, d1) y = QuantizeLinear(p, sy, zy)"
              " r = MatMul(dx, d2) u = QuantizeLinear(r, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// brevitas#417: quantize, clip, dequantize; 4-bit codes in 8-bit types. Scales
// of powers of two meet ties.
TEST(WeightsRegress, QuantizeClipDequantize) {
  const auto result = ExpectIdeal(
      ModelOf("g (float[1,3,6,6] x) => (float[1,4,4,4] y)"
              " <float sx = {0.25}, uint8 z = {0}, float sw = {0.125},"
              "  int8 zw = {0}, float sy = {0.5}, uint8 lo = {0},"
              "  uint8 hi = {15}, int8[4,3,3,3] w = " +
              DrawnList(27, 108, -8, 7) +
              "> {"
              " q = QuantizeLinear(x, sx, z) k = Clip(q, lo, hi)"
              " dx = DequantizeLinear(k, sx, z)"
              " dw = DequantizeLinear(w, sw, zw)"
              " c = Conv(dx, dw)"
              " qc = QuantizeLinear(c, sy, z) kc = Clip(qc, lo, hi)"
              " y = DequantizeLinear(kc, sy, z) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
  EXPECT_FALSE(HasKind(result, "clamp")) << Describe(result);
}

// Weights without any quantization are an island or refused, and their
// BatchNormalization is not lost on the way.
TEST(WeightsRegress, UnquantizedWeightsWithABatchNormalization) {
  const std::string head =
      "g (float[1,2,4,4] x) => (uint8[1,3,4,4] y)"
      " <float sx = {0.0313}, uint8 zx = {110}, float sy = {0.0517},"
      "  uint8 zy = {128}, float[3] gamma = {1.1, -0.7, 0.013},"
      "  float[3] beta = {0.1, 0.2, -0.3}, float[3] mean = {0.5, -0.5, 0.1},"
      "  float[3] var = {0.9, 1.3, 0.4}, float[1,3,1,1] g = {1.1, -0.7, 2.3},"
      "  float[3,2,1,1] w = {0.5, -0.3, 0.7, 1.1, -0.9, 0.2}> {"
      " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
      " [conv] c = Conv(dx, w)";
  for (const char* tail : {" b = BatchNormalization(c, gamma, beta, mean, var)",
                           " b = Mul(c, g)"}) {
    const auto result =
        ExpectIdeal(ModelOf(head + tail + " y = QuantizeLinear(b, sy, zy) }"));
    bool warned = false;
    for (const Diagnostic& d : result.report.diagnostics) {
      warned |=
          d.code == DiagnosticCode::unannotated_weights && d.node == "conv";
    }
    EXPECT_TRUE(warned) << Describe(result);
  }
}

// onnxruntime PR#28326: one 4-bit weight and one scale, read by two
// DequantizeLinear nodes.
TEST(WeightsRegress, OneFourBitWeightReadTwice) {
  onnx::ModelProto model = ModelOf(
      "g (float[2,4] x) => (uint8[2,4] y, uint8[2,4] u)"
      " <float sx = {0.03}, uint8 zx = {110}, float sw = {0.2},"
      "  float sy = {0.1}, uint8 zy = {128}> {"
      " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
      " d1 = DequantizeLinear(w, sw, zw) d2 = DequantizeLinear(w, sw, zw)"
      " p = MatMul(dx, d1) y = QuantizeLinear(p, sy, zy)"
      " r = Gemm <transB = 1> (dx, d2) u = QuantizeLinear(r, sy, zy) }",
      21);
  auto* w = model.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(onnx::TensorProto::INT4);
  for (int i = 0; i < 2; ++i) w->add_dims(4);
  for (int32_t pair : {0x18, 0x7f, 0x2c, 0x80, 0x35, 0xe9, 0x01, 0x67}) {
    w->add_int32_data(pair);
  }
  auto* zero = model.mutable_graph()->add_initializer();
  zero->set_name("zw");
  zero->set_data_type(onnx::TensorProto::INT4);
  zero->add_int32_data(0x0d);  // -3
  const auto result = ExpectIdeal(model);
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// onnxruntime PR#27614: a Cast of what a DequantizeLinear gives in half
// precision changes nothing, the product is one of real numbers.
TEST(WeightsRegress, CastBehindAHalfPrecisionDequantizeLinear) {
  onnx::ModelProto model = ModelOf(
      "g (float[2,3] x) => (uint8[2,4] y)"
      " <float sx = {0.03}, uint8 zx = {110}, float sy = {0.1},"
      "  uint8 zy = {128}, int8 zw = {5}, int8[3,4] w = " +
          DrawnList(63, 12, -128, 127) +
          "> {"
          " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
          " dw = DequantizeLinear(w, sw, zw)"
          " cw = Cast <to = 1> (dw)"
          " p = MatMul(dx, cw) y = QuantizeLinear(p, sy, zy) }",
      19);
  auto* scale = model.mutable_graph()->add_initializer();
  scale->set_name("sw");
  scale->set_data_type(onnx::TensorProto::FLOAT16);
  scale->add_int32_data(0x2a66);  // 0.04999, a binary16
  const auto result = ExpectIdeal(model);
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// Two initializers with the same bytes take the room of one, and so does one
// that a branch of the graph has a copy of.
TEST(WeightsRegress, EqualWeightsAreStoredOnce) {
  const std::string codes = DrawnList(64, 64 * 48, -128, 127);
  const auto bytes_with = [&](const std::string& second) {
    const auto result = ExpectIdeal(ModelOf(
        "g (float[1,64] x) => (uint8[1,48] y, uint8[1,48] u)"
        " <float sx = {0.03}, uint8 zx = {110}, float sw = {0.02},"
        "  int8 zw = {2}, float sy = {0.1}, uint8 zy = {128}, bool yes = {1},"
        "  int8[64,48] w = " +
        codes + (second == "v" ? ", int8[64,48] v = " + codes : "") +
        "> {"
        " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
        " d1 = DequantizeLinear(w, sw, zw)"
        " p = MatMul(dx, d1) y = QuantizeLinear(p, sy, zy)" +
        (second != "inside" ? " d2 = DequantizeLinear(" + second +
                                  ", sw, zw) r = MatMul(dx, d2)"
                            : " r = If (yes) <"
                              "  then_branch = t () => (float[1,48] a)"
                              "   <int8[64,48] v = " +
                                  codes +
                                  "> { d2 = DequantizeLinear(v, sw, zw)"
                                  " a = MatMul(dx, d2) },"
                                  "  else_branch = e () => (float[1,48] b) {"
                                  " b = Identity(p) }>") +
        " u = QuantizeLinear(r, sy, zy) }"));
    return result.report.artifact.constant_bytes;
  };
  const int64_t once = bytes_with("w");
  EXPECT_GT(once, 64 * 48);
  EXPECT_LT(once, 64 * 48 * 3 / 2);
  EXPECT_EQ(bytes_with("v"), once);
  EXPECT_EQ(bytes_with("inside"), once);
}

}  // namespace
}  // namespace fold::regress
