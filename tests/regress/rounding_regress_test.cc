// Rounding and requantization: reports in which an engine's integer form
// differed from the real numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/regress/compiled.h"

namespace fold::regress {
namespace {

// The one number that `output` of the model is for these input codes.
double OutputFor(const onnx::ModelProto& model,
                 const std::vector<double>& codes) {
  size_t next = 0;
  const Ideals inputs = InputsOf(model, [&](onnx::TensorProto_DataType,
                                            int64_t) { return codes[next++]; });
  const CompileResult result = ExpectIdeal(model, inputs);
  if (result.exit_code != 0) return -1e9;
  const Ran ran = RunArtifact(result.artifact, inputs);
  return ran.outputs.begin()->second.at(0);
}

// onnxruntime#32132: sums that land on half codes, all 65,536 pairs.
TEST(RoundingRegress, AddOfAllCodePairsWithTies) {
  const auto model = ModelOf(
      "g (int8[65536] a, int8[65536] b) => (int8[65536] y)"
      " <float sa = {0.08}, float sb = {0.12}, float sc = {0.16},"
      "  int8 z = {0}> {"
      " da = DequantizeLinear(a, sa, z)"
      " db = DequantizeLinear(b, sb, z)"
      " s = Add(da, db)"
      " y = QuantizeLinear(s, sc, z) }");
  Ideals inputs = InputsOf(model, [](onnx::TensorProto_DataType, int64_t i) {
    return i / 256 - 128;
  });
  for (int64_t i = 0; i < 65536; ++i) {
    inputs["b"].numbers[i] = static_cast<double>(i % 256 - 128);
  }
  const auto result = ExpectIdeal(model, inputs);
  EXPECT_TRUE(result.report.artifact.integer_only);
  EXPECT_EQ(result.report.artifact.exactness, Exactness::kProved);
}

// The same between float inputs that are quantized first.
TEST(RoundingRegress, AddBetweenFakeQuantizations) {
  const auto model = ModelOf(
      "g (float[1,4096] a, float[1,4096] b) => (float[1,4096] y)"
      " <float sa = {0.08}, float sb = {0.12}, float sc = {0.16},"
      "  int8 z = {0}> {"
      " qa = QuantizeLinear(a, sa, z) da = DequantizeLinear(qa, sa, z)"
      " qb = QuantizeLinear(b, sb, z) db = DequantizeLinear(qb, sb, z)"
      " s = Add(da, db)"
      " qs = QuantizeLinear(s, sc, z) y = DequantizeLinear(qs, sc, z) }");
  EXPECT_TRUE(ExpectIdeal(model, 2, 12).report.artifact.integer_only);
}

// onnxruntime#25512: the real sum is -7.50000794 steps.
TEST(RoundingRegress, AddJustBeyondATie) {
  const std::string parameters =
      " <float sa = {0.02534690499305725}, int8 za = {-106},"
      "  float sb = {0.035809919238090515}, int8 zb = {-120},"
      "  float sc = {0.0365859717130661}, int8 zc = {-105}> {";
  EXPECT_EQ(
      OutputFor(ModelOf("g (int8[1] a, int8[1] b) => (int8[1] y)" + parameters +
                        " da = DequantizeLinear(a, sa, za)"
                        " db = DequantizeLinear(b, sb, zb)"
                        " s = Add(da, db)"
                        " y = QuantizeLinear(s, sc, zc) }"),
                {-114, -122}),
      -113);
  EXPECT_EQ(
      OutputFor(ModelOf("g (int8[1] a, int8[1] b) => (int8[1] y)" + parameters +
                        " y = com.microsoft.QLinearAdd(a, sa, za, b, sb,"
                        " zb, sc, zc) }"),
                {-114, -122}),
      -113);
}

// tensorflow#102943: 585 accumulated steps are 6.50000047 of the result's.
TEST(RoundingRegress, FullyConnectedJustBeyondATie) {
  EXPECT_EQ(OutputFor(ModelOf("g (int8[1,1] x) => (int8[1,1] y)"
                              " <float si = {0.05296124517917633},"
                              "  float sw = {0.024093778803944588},"
                              "  float so = {0.11484327912330627},"
                              "  int8 z = {0}, int8 zo = {-126},"
                              "  int8[1,1] w = {13}> {"
                              " dx = DequantizeLinear(x, si, z)"
                              " dw = DequantizeLinear(w, sw, z)"
                              " p = Gemm <transB = 1> (dx, dw)"
                              " y = QuantizeLinear(p, so, zo) }"),
                      {45}),
            -119);
}

// onnx#7835: results beyond the type saturate.
TEST(RoundingRegress, QLinearMatMulSaturates) {
  EXPECT_EQ(OutputFor(ModelOf("g (uint8[1,1] x) => (uint8[1,1] y)"
                              " <float s = {1}, float sy = {0.2},"
                              "  uint8 z = {0}, uint8[1,1] w = {100}> {"
                              " y = QLinearMatMul(x, s, z, w, s, z, sy, z) }"),
                      {100}),
            255);
  EXPECT_EQ(OutputFor(ModelOf("g (int8[1,1] x) => (int8[1,1] y)"
                              " <float s = {1}, float sy = {0.5},"
                              "  int8 z = {0}, int8[1,1] w = {100}> {"
                              " y = QLinearMatMul(x, s, z, w, s, z, sy, z) }"),
                      {-100}),
            -128);
}

// onnxruntime#9365: u8 x s8 products must not saturate pairwise in 16 bits.
TEST(RoundingRegress, SumsOfExtremeCodes) {
  std::string w = "{127";
  for (int i = 1; i < 16; ++i) w += ", 127";
  EXPECT_EQ(OutputFor(ModelOf("g (uint8[1,16,1,1] x) => (float[1,1,1,1] y)"
                              " <float s = {1}, uint8 z = {0}, int8 zw = {0},"
                              "  int8[1,16,1,1] w = " +
                              w +
                              "}> {"
                              " dx = DequantizeLinear(x, s, z)"
                              " dw = DequantizeLinear(w, s, zw)"
                              " y = Conv(dx, dw) }"),
                      std::vector<double>(16, 255)),
            255.0 * 127 * 16);
  const auto gemm = ModelOf(
      "g (uint8[1,3] x) => (int8[1,1] y)"
      " <float s = {0.01}, float sy = {0.05}, uint8 z = {0}, int8 zw = {0},"
      "  int8[3,1] w = {-81, -80, 127}> {"
      " dx = DequantizeLinear(x, s, z)"
      " dw = DequantizeLinear(w, s, zw)"
      " p = Gemm(dx, dw)"
      " y = QuantizeLinear(p, sy, zw) }");
  // (210*-81 + 198*-80 + 234*127) * 0.0001 / 0.05 = -6.264
  EXPECT_EQ(OutputFor(gemm, {210, 198, 234}), -6);
}

// openvino PR#21278: 16-bit codes reach 65,535, and saturate there.
TEST(RoundingRegress, TopCodeOfSixteenBits) {
  const auto model = ModelOf(
      "g (float[3] x) => (uint16[3] y)"
      " <float s = {0.00001525902}, uint16 z = {0}> {"
      " y = QuantizeLinear(x, s, z) }",
      21);
  Ideals inputs = InputsOf(model, [](onnx::TensorProto_DataType, int64_t i) {
    return std::vector<double>{1.0, 1.5, -1.0}[i];
  });
  const auto result = ExpectIdeal(model, inputs);
  ASSERT_EQ(result.exit_code, 0);
  const Ran ran = RunArtifact(result.artifact, inputs);
  EXPECT_EQ(ran.outputs.at("y"), (std::vector<double>{65535, 65535, 0}));
}

// LiteRT#7441: one operator between random scales; a product and a mean of 5.
TEST(RoundingRegress, ProductsAndMeansBetweenRandomScales) {
  const std::string parameters =
      " <float sa = {0.0371294}, int8 za = {-19}, float sb = {0.0218351},"
      "  int8 zb = {44}, float sy = {0.0512983}, int8 zy = {-126},"
      "  float sm = {0.0297113}> {"
      " da = DequantizeLinear(a, sa, za) db = DequantizeLinear(b, sb, zb)";
  for (uint32_t seed = 1; seed < 4; ++seed) {
    const auto product = ExpectIdeal(
        ModelOf("g (int8[16,25] a, int8[16,25] b) => (int8[16,25] y)" +
                parameters +
                " p = Mul(da, db) y = QuantizeLinear(p, sy, zy) }"),
        seed);
    const auto mean =
        ExpectIdeal(ModelOf("g (int8[40,5] a, int8[40,5] b) => (int8[40,1] y)" +
                            parameters +
                            " m = ReduceMean <axes = [1]> (da)"
                            " y = QuantizeLinear(m, sm, zy) }"),
                    seed);
    EXPECT_TRUE(product.report.artifact.integer_only) << Describe(product);
    EXPECT_TRUE(mean.report.artifact.integer_only) << Describe(mean);
  }
}

// onnxruntime#18576: binary16 numbers, divided as the numbers that they are.
TEST(RoundingRegress, HalfPrecisionInputAndScale) {
  const std::vector<double> numbers = {2.109375,   2.5,  2.599609375,
                                       5.30078125, 5.5,  5.8984375,
                                       61.3125,    62.5, 80.875};
  for (const auto& [bits, codes] :
       {std::pair<int, std::vector<double>>{0x3c00,  // 1
                                            {5, 5, 6, 8, 9, 9, 64, 65, 84}},
        {0x3800,  // 0.5
         {7, 8, 8, 14, 14, 15, 126, 127, 127}}}) {
    auto model = ModelOf(
        "g (float16[9] x) => (int8[9] y) <int8 z = {3}> {"
        " y = QuantizeLinear(x, s, z) }",
        19);
    auto* scale = model.mutable_graph()->add_initializer();
    scale->set_name("s");
    scale->set_data_type(onnx::TensorProto::FLOAT16);
    scale->add_int32_data(bits);
    // The boundary takes no binary16 yet: refused by the input's name.
    const auto result = CompileModel(model, {}, "x86-64");
    EXPECT_EQ(result.exit_code, 3);
    ASSERT_FALSE(result.report.diagnostics.empty());
    EXPECT_EQ(result.report.diagnostics[0].code,
              DiagnosticCode::unsupported_type);
    EXPECT_EQ(result.report.diagnostics[0].node, "x");
    // The right codes, for the day that it does.
    ASSERT_EQ(codes.size(), numbers.size());
    const double step = bits == 0x3c00 ? 1 : 0.5;
    for (size_t i = 0; i < codes.size(); ++i) {
      EXPECT_EQ(codes[i],
                std::min(127.0, std::nearbyint(numbers[i] / step) + 3));
    }
  }
}

}  // namespace
}  // namespace fold::regress
