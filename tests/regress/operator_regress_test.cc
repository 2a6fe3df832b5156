// Faults found in foldd itself: constants that vary by channel behind an
// operator without weights, biases along rows, and shapes at the edge of what
// an operator takes.
#include <gtest/gtest.h>

#include "tests/regress/compiled.h"

namespace fold::regress {
namespace {

const char kHead[] =
    "g (float[1,3,4,4] x) => (uint8[%s] y)"
    " <float sx = {0.0413}, uint8 zx = {100}, float sy = {0.0517},"
    "  uint8 zy = {120}, float[1,3,1,1] c = {0.5, -1.25, 2.5},"
    "  float[3] gamma = {1.5, -0.8, 0.3}, float[3] beta = {0.3, 0.6, 0.1},"
    "  float[3] mean = {0.1, -0.2, 3}, float[3] var = {0.5, 2, 0.25}> {"
    " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)";

std::string Behind(const std::string& shape, const std::string& nodes) {
  std::string text = kHead;
  text.replace(text.find("%s"), 2, shape);
  return text + nodes + " y = QuantizeLinear(r, sy, zy) }";
}

// A step whose constant varies by channel, behind each operator that takes
// steps.
TEST(OperatorRegress, ChannelConstantsBehindOperatorsWithoutWeights) {
  const char* const heads[][2] = {
      {" h = Add(dx, dx)", "1,3,4,4"},
      {" h = Mul(dx, dx)", "1,3,4,4"},
      {" h = AveragePool <kernel_shape = [2, 2]> (dx)", "1,3,3,3"},
      {" h = GlobalAveragePool(dx)", "1,3,1,1"},
      {" h = ReduceMean <axes = [2, 3]> (dx)", "1,3,1,1"},
      {" h = Relu(dx)", "1,3,4,4"},
  };
  const char* const tails[] = {
      " r = Mul(h, c)", " r = Add(c, h)",
      " r = BatchNormalization(h, gamma, beta, mean, var)"};
  for (const auto& head : heads) {
    for (const char* tail : tails) {
      SCOPED_TRACE(std::string(head[0]) + tail);
      ExpectIdeal(ModelOf(Behind(head[1], std::string(head[0]) + tail)));
    }
  }
}

// A Gemm's C broadcasts: along columns, rows, or neither.
TEST(OperatorRegress, GemmBiasShapes) {
  for (const char* c :
       {"float[3] c = {1.5, -2, 3}", "float[3,1] c = {1.5, -2, 3}",
        "float[1,3] c = {1.5, -2, 3}", "float c = {1.5}",
        "float[1,1] c = {1.5}",
        "float[3,3] c = {1, -2, 3, 4, -5, 6, -7, 8, 1.5}"}) {
    SCOPED_TRACE(c);
    ExpectIdeal(ModelOf(
        "g (float[3,4] x) => (uint8[3,3] y)"
        " <float sx = {0.0413}, uint8 zx = {100}, float sw = {0.01},"
        "  int8 zw = {0}, float sy = {0.0517}, uint8 zy = {120},"
        "  int8[4,3] w = " +
        DrawnList(41, 12, -128, 127) + ", " + std::string(c) +
        "> {"
        " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
        " dw = DequantizeLinear(w, sw, zw)"
        " p = Gemm <alpha = 0.75, beta = 0.5> (dx, dw, c)"
        " y = QuantizeLinear(p, sy, zy) }"));
  }
}

TEST(OperatorRegress, GemmTransposes) {
  for (const char* form :
       {"float[4,3] x|transA = 1", "float[3,4] x|transA = 0"}) {
    const std::string text = form;
    const size_t bar = text.find('|');
    ExpectIdeal(ModelOf(
        "g (" + text.substr(0, bar) +
        ") => (uint8[3,3] y)"
        " <float sx = {0.0413}, uint8 zx = {100}, float sw = {0.01},"
        "  int8 zw = {0}, float sy = {0.0517}, uint8 zy = {120},"
        "  int8[3,4] w = " +
        DrawnList(42, 12, -128, 127) +
        "> {"
        " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
        " dw = DequantizeLinear(w, sw, zw)"
        " p = Gemm <transB = 1, " +
        text.substr(bar + 1) +
        "> (dx, dw)"
        " y = QuantizeLinear(p, sy, zy) }"));
  }
}

// MatMul of a vector, of batches, and with a constant on the left.
TEST(OperatorRegress, MatMulRanks) {
  const char* const forms[][3] = {
      {"4", "3", "MatMul(dx, dw)"},
      {"2,2,4", "2,2,3", "MatMul(dx, dw)"},
      {"3,5", "4,5", "MatMul(dw, dx)"},
  };
  for (const auto& form : forms) {
    SCOPED_TRACE(form[0]);
    ExpectIdeal(ModelOf(
        "g (float[" + std::string(form[0]) + "] x) => (uint8[" + form[1] +
        "] y)"
        " <float sx = {0.0413}, uint8 zx = {100}, float sw = {0.0103},"
        "  int8 zw = {0}, float sy = {0.0517}, uint8 zy = {120},"
        "  int8[4,3] w = " +
        DrawnList(43, 12, -128, 127) +
        "> {"
        " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
        " dw = DequantizeLinear(w, sw, zw)"
        " p = " +
        form[2] + " y = QuantizeLinear(p, sy, zy) }"));
  }
}

// One operand of a sum or a product is a quantized constant.
TEST(OperatorRegress, QuantizedConstantOperands) {
  for (const char* op : {"Add(dx, dc)", "Mul(dc, dx)", "Sub(dc, dx)"}) {
    SCOPED_TRACE(op);
    ExpectIdeal(ModelOf(
        "g (float[1,3,2,2] x) => (uint8[1,3,2,2] y)"
        " <float sx = {0.0413}, uint8 zx = {100}, float sc = {0.0171},"
        "  int8 zc = {2}, float sy = {0.0517}, uint8 zy = {120},"
        "  int8[1,3,1,1] k = {-77, 50, 127}> {"
        " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
        " dc = DequantizeLinear(k, sc, zc)"
        " p = " +
        std::string(op) + " y = QuantizeLinear(p, sy, zy) }"));
  }
}

// Convolutions in every shape: one dimension, groups, depthwise, dilated,
// strided, asymmetric pads, auto_pad.
TEST(OperatorRegress, Convolutions) {
  const char* const forms[][4] = {
      {"1,2,9", "4,2,3", "1,4,5", "strides = [2], pads = [1, 1]"},
      {"1,4,6,6", "6,2,3,3", "1,6,4,4", "group = 2"},
      {"1,4,6,6", "4,1,3,3", "1,4,6,6", "group = 4, pads = [1, 1, 1, 1]"},
      {"1,4,6,6", "8,1,3,3", "1,8,4,4", "group = 4"},
      {"2,3,7,7", "2,3,3,3", "2,2,3,3", "dilations = [2, 2]"},
      {"1,3,7,6", "2,3,3,2", "1,2,4,4",
       "strides = [2, 2], pads = [0, 1, 2, 2]"},
      {"1,3,7,6", "2,3,3,3", "1,2,4,3",
       "strides = [2, 2], auto_pad = \"SAME_UPPER\""},
      {"1,3,7,6", "2,3,4,4", "1,2,7,6", "auto_pad = \"SAME_LOWER\""},
  };
  for (const auto& form : forms) {
    SCOPED_TRACE(form[3]);
    int weights = 1;
    for (const char* at = form[1]; *at; ++at) {
      if (*at != ',') weights *= *at - '0';
    }
    const auto result = ExpectIdeal(ModelOf(
        "g (float[" + std::string(form[0]) + "] x) => (uint8[" + form[2] +
        "] y)"
        " <float sx = {0.0413}, uint8 zx = {100}, float sw = {0.01},"
        "  int8 zw = {-5}, float sy = {0.1017}, uint8 zy = {120},"
        "  int8[" +
        form[1] + "] w = " + DrawnList(44, weights, -128, 127) +
        "> {"
        " q = QuantizeLinear(x, sx, zx) dx = DequantizeLinear(q, sx, zx)"
        " dw = DequantizeLinear(w, sw, zw)"
        " c = Conv <" +
        form[3] +
        "> (dx, dw)"
        " y = QuantizeLinear(c, sy, zy) }"));
    EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
  }
}

// Networks that are hardly any.
TEST(OperatorRegress, SmallestNetworks) {
  ExpectIdeal(ModelOf("g (float[3] x) => (float[3] y) { y = Identity(x) }"));
  ExpectIdeal(ModelOf("g (int8[3] x) => (int8[3] y) { y = Identity(x) }"));
  ExpectIdeal(
      ModelOf("g (float[3] x) => (uint8[3] y, uint8[3] z)"
              " <float s = {0.1}, uint8 zero = {3}> {"
              " y = QuantizeLinear(x, s, zero) z = Identity(y) }"));
  ExpectIdeal(
      ModelOf("g (float x) => (uint8 y)"
              " <float s = {0.1}, uint8 zero = {3}> {"
              " y = QuantizeLinear(x, s, zero) }"));
}

// Per-axis activations: quantized and dequantized along a dimension, moved.
TEST(OperatorRegress, PerAxisActivations) {
  ExpectIdeal(
      ModelOf("g (float[2,3,2] x) => (float[3,2,2] y)"
              " <float[3] s = {0.1, 0.02, 0.3},"
              "  uint8[3] z = {3, 100, 255}> {"
              " q = QuantizeLinear(x, s, z)"
              " d = DequantizeLinear(q, s, z)"
              " y = Transpose <perm = [1, 2, 0]> (d) }"));
}

TEST(OperatorRegress, QLinearOperators) {
  const std::string head =
      "g (uint8[1,3,4,4] x) => (uint8[%s] y)"
      " <float sx = {0.0413}, uint8 zx = {100}, float sy = {0.0517},"
      "  uint8 zy = {120}, float sz = {0.03}, uint8 zz = {7}> {";
  const char* const forms[][2] = {
      {"1,3,4,4", "com.microsoft.QLinearAdd(x, sx, zx, x, sz, zz, sy, zy)"},
      {"1,3,4,4", "com.microsoft.QLinearMul(x, sx, zx, x, sz, zz, sy, zy)"},
      {"1,3,2,2",
       "com.microsoft.QLinearAveragePool <kernel_shape = [3, 3],"
       " strides = [2, 2], pads = [1, 1, 0, 0]> (x, sx, zx, sy, zy)"},
      {"1,3,1,1", "com.microsoft.QLinearGlobalAveragePool(x, sx, zx, sy, zy)"},
      {"1,6,4,4",
       "com.microsoft.QLinearConcat <axis = 1>"
       " (sy, zy, x, sx, zx, x, sz, zz)"},
  };
  for (const auto& form : forms) {
    SCOPED_TRACE(form[1]);
    std::string text = head;
    text.replace(text.find("%s"), 2, form[0]);
    const auto result =
        ExpectIdeal(ModelOf(text + " y = " + std::string(form[1]) + " }"));
    EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
  }
}

}  // namespace
}  // namespace fold::regress
