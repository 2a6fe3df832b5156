// Windows: padding stands for zero, divisors follow the border, and
// normalization folds into what is before it.
#include <gtest/gtest.h>

#include "tests/regress/compiled.h"

namespace fold::regress {
namespace {

// executorch#13576: padding has the code of zero, 128 here.
TEST(WindowRegress, ConvolutionPadsWithTheZeroPoint) {
  const std::string head =
      "g (float[1,2,4,4] x) => (uint8[1,2,4,4] y)"
      " <float sx = {0.04}, uint8 zx = {128}, float sw = {0.01}, int8 zw = {0},"
      "  float sy = {0.07}, uint8 zy = {120}, int64[8] p = {0,0,1,1,0,0,1,1},"
      "  int8[2,2,3,3] w = " +
      DrawnList(31, 36, -128, 127) +
      "> {"
      " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
      " dw = DequantizeLinear(w, sw, zw)";
  const auto attribute =
      ExpectIdeal(ModelOf(head + " c = Conv <pads = [1, 1, 1, 1]> (dx, dw)"
                                 " y = QuantizeLinear(c, sy, zy) }"));
  const auto explicit_pad =
      ExpectIdeal(ModelOf(head + " px = Pad(dx, p) c = Conv(px, dw)"
                                 " y = QuantizeLinear(c, sy, zy) }"));
  EXPECT_TRUE(attribute.report.artifact.integer_only);
  EXPECT_TRUE(explicit_pad.report.artifact.integer_only);
  EXPECT_FALSE(HasKind(explicit_pad, "pad")) << Describe(explicit_pad);
}

// A Pad before the first quantization is movement as well.
TEST(WindowRegress, PadBeforeTheFirstQuantization) {
  const auto result = ExpectIdeal(
      ModelOf("g (float[1,2,4,4] x) => (uint8[1,2,4,4] y)"
              " <float sx = {0.04}, uint8 zx = {128}, float sw = {0.01},"
              "  int8 zw = {0}, float sy = {0.07}, uint8 zy = {120},"
              "  int64[8] p = {0,0,1,1,0,0,1,1},"
              "  int8[2,2,3,3] w = " +
              DrawnList(31, 36, -128, 127) +
              "> {"
              " px = Pad(x, p)"
              " q = QuantizeLinear(px, sx, zx) dx = DequantizeLinear(q, sx, zx)"
              " dw = DequantizeLinear(w, sw, zw)"
              " c = Conv(dx, dw)"
              " y = QuantizeLinear(c, sy, zy) }"));
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

std::string Pool(const std::string& attributes, const std::string& shape,
                 const std::string& result) {
  return "g (float[" + shape + "] x) => (uint8[" + result +
         "] y)"
         " <float s = {0.0625}, uint8 z = {37}> {"
         " q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z)"
         " p = AveragePool <" +
         attributes +
         "> (d)"
         " y = QuantizeLinear(p, s, z) }";
}

// onnxruntime#24681: [[1, 1], [1, 1]] gives [[1, .5], [.5, .25]].
TEST(WindowRegress, AveragePoolDivisorsAtABorder) {
  const auto model = ModelOf(
      Pool("kernel_shape = [2, 2], pads = [0, 0, 1, 1], count_include_pad = 1",
           "1,1,2,2", "1,1,2,2"));
  const Ideals inputs =
      InputsOf(model, [](onnx::TensorProto_DataType, int64_t) { return 1.0; });
  const auto result = ExpectIdeal(model, inputs);
  ASSERT_EQ(result.exit_code, 0);
  EXPECT_EQ(RunArtifact(result.artifact, inputs).outputs.at("y"),
            (std::vector<double>{53, 45, 45, 41}));
}

TEST(WindowRegress, AveragePoolForms) {
  const char* const forms[][3] = {
      {"kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]",
       "1,2,7,9", "1,2,4,5"},
      {"kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1],"
       " count_include_pad = 1",
       "1,2,7,9", "1,2,4,5"},
      {"kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1", "1,2,6,8",
       "1,2,3,4"},
      {"kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1,"
       " pads = [1, 0, 0, 1], count_include_pad = 1",
       "1,2,7,8", "1,2,4,4"},
      {"kernel_shape = [2, 3], strides = [1, 2], auto_pad = \"SAME_UPPER\"",
       "1,2,5,6", "1,2,5,3"},
      {"kernel_shape = [2, 3], strides = [1, 2], auto_pad = \"SAME_LOWER\"",
       "1,2,5,6", "1,2,5,3"},
      {"kernel_shape = [4], strides = [3], pads = [1, 2]", "1,2,11", "1,2,4"},
  };
  for (const auto& form : forms) {
    SCOPED_TRACE(form[0]);
    const auto result = ExpectIdeal(ModelOf(Pool(form[0], form[1], form[2])));
    EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
  }
}

// onnxruntime#21287: movement between equal quantizations computes nothing.
TEST(WindowRegress, MovementIsMovement) {
  const auto result =
      ExpectIdeal(ModelOf("g (uint8[2,3,2] x) => (uint8[2,6] y)"
                          " <float s = {0.04}, uint8 z = {100}> {"
                          " d = DequantizeLinear(x, s, z)"
                          " f = Flatten(d)"
                          " y = QuantizeLinear(f, s, z) }"));
  for (const OpSummary& op : result.report.ops) {
    EXPECT_EQ(op.kind, "copy") << Describe(result);
  }
}

// pytorch/ao#4463: a BatchNormalization with a negative and a tiny gamma.
TEST(WindowRegress, BatchNormalizationBehindAConvolution) {
  const std::string head =
      "g (float[1,2,5,5] x) => (uint8[1,3,3,3] y)"
      " <float sx = {0.04}, uint8 zx = {100}, float sw = {0.01}, int8 zw = {0},"
      "  float sy = {0.0417}, uint8 zy = {20},"
      "  float[3] gamma = {1.5, -0.8, 0.000001},"
      "  float[3] beta = {0.3, 0.6, 0.417}, float[3] mean = {0.1, -0.2, 3},"
      "  float[3] var = {0.5, 2, 0.01}, float[1,3,1,1] f = {0.7, 0.9, 1.3},"
      "  int8[3,2,3,3] w = " +
      DrawnList(32, 54, -128, 127) +
      "> {"
      " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
      " dw = DequantizeLinear(w, sw, zw) c = Conv(dx, dw)";
  for (const char* middle :
       {" b = BatchNormalization(c, gamma, beta, mean, var) r = Relu(b)",
        " e = Div(c, f) b = BatchNormalization <epsilon = 0.001>"
        " (e, gamma, beta, mean, var) r = Relu(b)"}) {
    const auto result = ExpectIdeal(
        ModelOf(head + middle + " y = QuantizeLinear(r, sy, zy) }"));
    EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
    EXPECT_EQ(result.report.ops.size(), 1u) << Describe(result);
  }
}

// A BatchNormalization before a convolution moves what the padding stands for.
TEST(WindowRegress, BatchNormalizationBeforeAConvolution) {
  ExpectIdeal(
      ModelOf("g (float[1,2,4,4] x) => (uint8[1,2,4,4] y)"
              " <float sx = {0.0413}, uint8 zx = {100}, float sw = {0.0107},"
              "  int8 zw = {0}, float sy = {0.1417}, uint8 zy = {120},"
              "  float[2] gamma = {1.5, -0.8}, float[2] beta = {0.3, 0.6},"
              "  float[2] mean = {0.1, -0.2}, float[2] var = {0.5, 2},"
              "  int8[2,2,3,3] w = " +
              DrawnList(33, 36, -128, 127) +
              "> {"
              " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
              " b = BatchNormalization(dx, gamma, beta, mean, var)"
              " dw = DequantizeLinear(w, sw, zw)"
              " c = Conv <pads = [1, 1, 1, 1]> (b, dw)"
              " y = QuantizeLinear(c, sy, zy) }"));
}

}  // namespace
}  // namespace fold::regress
