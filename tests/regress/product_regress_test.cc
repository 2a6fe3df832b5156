// Products with their constant on the left, in every shape and on every target,
// held against exact rationals; and what stands between them and the next
// QuantizeLinear.
#include <gtest/gtest.h>

#include "tests/regress/compiled.h"

namespace fold::regress {
namespace {

constexpr const char* kTargets[] = {"x86-64", "x86-64-integer",
                                    "x86-64-reciprocal"};

// Shapes of the constant, the value and the result.
struct Sizes {
  const char *constant, *value, *result;
  int count;  // elements of the constant
};
const Sizes kSizes[] = {
    {"3,4", "4,5", "3,5", 12}, {"3,4", "2,4,5", "2,3,5", 12},
    {"3,4", "4", "3", 12},     {"4", "4,5", "5", 4},
    {"4", "2,4,5", "2,5", 4},  {"3,4", "4,1", "3,1", 12},
    {"1,4", "4,5", "1,5", 4}};

std::string Product(const Sizes& sizes, const std::string& weights,
                    const std::string& nodes) {
  return "g (uint8[" + std::string(sizes.value) + "] q) => (int8[" +
         sizes.result +
         "] y) <float sx = {0.037}, uint8 zx = {130}, float sy = {0.09},"
         "  int8 zy = {11}, float two = {-2}, float lo = {-3}, float hi = "
         "{3}, " +
         weights + "> { x = DequantizeLinear(q, sx, zx)" + nodes +
         " y = QuantizeLinear(r, sy, zy) }";
}

std::string PerTensor(const Sizes& sizes) {
  return "int8[" + std::string(sizes.constant) +
         "] w = " + DrawnList(5, sizes.count, -128, 127) +
         ", float sw = {0.01}, int8 zw = {7}";
}

TEST(LeftConstant, EveryShapeOnEveryTarget) {
  const char* const tails[] = {
      " r = MatMul(v, x)", " p = MatMul(v, x) r = Relu(p)",
      " p = MatMul(v, x) m = Mul(p, two) r = Clip(m, lo, hi)"};
  for (const Sizes& sizes : kSizes) {
    for (const char* tail : tails) {
      for (const char* target : kTargets) {
        SCOPED_TRACE(std::string(sizes.constant) + " by " + sizes.value + tail +
                     " on " + target);
        const auto model = ModelOf(
            Product(sizes, PerTensor(sizes),
                    std::string(" v = DequantizeLinear(w, sw, zw)") + tail));
        const Ideals inputs =
            InputsOf(model, [](onnx::TensorProto_DataType, int64_t i) {
              return static_cast<double>(i * 37 % 256);
            });
        const auto result = ExpectIdeal(model, inputs, target);
        ASSERT_FALSE(HasFailure()) << Describe(result);
        EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
        EXPECT_TRUE(HasKind(result, "fully_connected")) << Describe(result);
      }
    }
  }
}

// A scale and a zero point for each row, and what varies by row behind it.
TEST(LeftConstant, ScalesAndStepsOfRows) {
  const Sizes sizes = {"3,4", "2,4,5", "2,3,5", 12};
  const std::string weights =
      "int8[3,4] w = " + DrawnList(6, 12, -128, 127) +
      ", float[3] sw = {0.01, 0.002, 0.03}, int8[3] zw = {0, -5, 9},"
      " float[3,1] b = {0.5, -0.7, 1.5}, int8[3,1] k = {3, -50, 9},"
      " float sk = {0.05}";
  for (const char* tail :
       {" r = MatMul(v, x)", " p = MatMul(v, x) r = Add(p, b)",
        " p = MatMul(v, x) m = Mul(b, p) c = DequantizeLinear(k, sk)"
        " a = Add(m, c) r = Relu(a)"}) {
    for (const char* target : kTargets) {
      SCOPED_TRACE(std::string(tail) + " on " + target);
      const auto model = ModelOf(Product(
          sizes, weights,
          std::string(" v = DequantizeLinear <axis = 0> (w, sw, zw)") + tail));
      const Ideals inputs =
          InputsOf(model, [](onnx::TensorProto_DataType, int64_t i) {
            return static_cast<double>(i * 37 % 256);
          });
      const auto result = ExpectIdeal(model, inputs, target);
      ASSERT_FALSE(HasFailure()) << Describe(result);
      EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
    }
  }
}

// Transpositions that meet cancel: the value is transposed already, and so is
// the result wanted.
TEST(LeftConstant, MeetsOtherTranspositions) {
  const Sizes sizes = {"3,4", "5,4", "5,3", 12};
  const auto model =
      ModelOf(Product(sizes, PerTensor(sizes),
                      " v = DequantizeLinear(w, sw, zw) t = Transpose(x)"
                      " p = MatMul(v, t) r = Transpose(p)"));
  const Ideals inputs =
      InputsOf(model, [](onnx::TensorProto_DataType, int64_t i) {
        return static_cast<double>(i * 37 % 256);
      });
  const auto result = ExpectIdeal(model, inputs, "x86-64-integer");
  ASSERT_EQ(result.report.ops.size(), 1u) << Describe(result);
  EXPECT_EQ(result.report.ops[0].kind, "fully_connected");
}

// The report says what the transpositions cost.
TEST(LeftConstant, TheDecisionIsInTheReport) {
  const Sizes& sizes = kSizes[0];
  const auto result = CompileModel(
      ModelOf(Product(sizes, PerTensor(sizes),
                      " v = DequantizeLinear(w, sw, zw) r = MatMul(v, x)")));
  std::string decided;
  for (const PassSummary& pass : result.report.passes) {
    for (const KeptNode& node : pass.decided) {
      decided += pass.name + " " + node.node + ": " + node.reason;
    }
  }
  EXPECT_EQ(decided,
            "constants_to_right r: transpositions move 20 bytes of the operand "
            "and 15 of the result; with its constant on the left it would be "
            "a product in double, of 376 bytes");
}

// One constant on the left of one product and on the right of another.
TEST(LeftConstant, SharedByOtherProducts) {
  const auto model = ModelOf(
      "g (uint8[4,5] q, uint8[2,3] o) => (int8[3,5] y, int8[2,4] z)"
      " <float sx = {0.037}, uint8 zx = {130}, float sy = {0.09},"
      "  int8 zy = {11}, float sw = {0.01}, int8 zw = {7}, int8[3,4] w = " +
      DrawnList(9, 12, -128, 127) +
      "> { x = DequantizeLinear(q, sx, zx) u = DequantizeLinear(o, sx, zx)"
      " v = DequantizeLinear(w, sw, zw)"
      " p = MatMul(v, x) y = QuantizeLinear(p, sy, zy)"
      " s = MatMul(u, v) z = QuantizeLinear(s, sy, zy) }");
  const Ideals inputs =
      InputsOf(model, [](onnx::TensorProto_DataType, int64_t i) {
        return static_cast<double>(i * 53 % 256);
      });
  for (const char* target : kTargets) ExpectIdeal(model, inputs, target);
}

// `head`, the dimensions of q, a linear op that makes h and the dimensions of
// y, with `chain` behind it.
std::string Chain(const char* const (&head)[3], const std::string& chain) {
  const bool conv = std::string(head[0]).size() > 3;
  const std::string along = conv ? "2,1,1" : "2";
  const std::string shape = conv ? "2,3,1,1" : "3,2";
  return "g (uint8[" + std::string(head[0]) + "] q) => (int8[" + head[2] +
         "] y) <float sx = {0.037}, uint8 zx = {130}, float sy = {0.09},"
         "  int8 zy = {11}, float sw = {0.01}, int8[" +
         shape + "] w = " + DrawnList(8, 6, -128, 127) + ", float[" + along +
         "] a = {1.5, -0.4}, int8[" + along +
         "] kb = {5, -90},"
         "  float sb = {0.02}, float c = {-1.7}, uint8 kd = {9},"
         "  float sd = {0.3}, uint8 zd = {100}, float lo = {-2},"
         "  float hi = {2.5}> { x = DequantizeLinear(q, sx, zx)"
         " v = DequantizeLinear(w, sw) b = DequantizeLinear(kb, sb)"
         " d = DequantizeLinear(kd, sd, zd)" +
         head[1] + chain + " y = QuantizeLinear(r, sy, zy) }";
}

// Chains of constant factors and addends in any order behind a linear op, along
// the channels of each, plain or behind a DequantizeLinear.
TEST(Chains, OfFactorsAndAddends) {
  const char* const heads[][3] = {{"1,3,4,4", " h = Conv(x, v)", "1,2,4,4"},
                                  {"5,3", " h = MatMul(x, v)", "5,2"},
                                  {"5,3", " h = Gemm(x, v)", "5,2"}};
  const char* const chains[] = {
      " r = Mul(h, a)", " m = Add(h, a) r = Mul(b, m)",
      " m = Mul(h, b) n = Sub(a, m) o = Div(n, c) r = Add(o, d)",
      " m = Div(h, d) n = Mul(m, a) o = Relu(n) r = Mul(o, b)",
      " m = Sub(h, d) n = Clip(m, lo, hi) o = Add(n, a) r = Div(o, c)"};
  for (const auto& head : heads) {
    const bool conv = std::string(head[0]).size() > 3;
    for (const char* chain : chains) {
      SCOPED_TRACE(std::string(head[1]) + chain);
      const auto model = ModelOf(Chain(head, chain));
      const Ideals inputs =
          InputsOf(model, [](onnx::TensorProto_DataType, int64_t i) {
            return static_cast<double>(i * 37 % 256);
          });
      const auto result = ExpectIdeal(model, inputs, "x86-64-integer");
      ASSERT_FALSE(HasFailure()) << Describe(result);
      // A convolution may have its layout changed before and behind it.
      EXPECT_LE(result.report.ops.size(), conv ? 3u : 1u) << Describe(result);
    }
  }
}

// The same ahead of a linear op, which takes codes: a table in front of it.
TEST(Chains, AheadOfALinearOperator) {
  const auto model = ModelOf(
      "g (uint8[5,3] q) => (int8[5,2] y)"
      " <float sx = {0.037}, uint8 zx = {130}, float sy = {0.09},"
      "  int8 zy = {11}, float sw = {0.01}, int8[3,2] w = {1, 2, 3, 4, 5, 6},"
      "  float[3] a = {1.5, -0.4, 3}, float sm = {0.05}, uint8 zm = {110}> {"
      " x = DequantizeLinear(q, sx, zx) v = DequantizeLinear(w, sw)"
      " m = Mul(x, a) qm = QuantizeLinear(m, sm, zm)"
      " dm = DequantizeLinear(qm, sm, zm) p = MatMul(dm, v)"
      " y = QuantizeLinear(p, sy, zy) }");
  const Ideals inputs =
      InputsOf(model, [](onnx::TensorProto_DataType, int64_t i) {
        return static_cast<double>(i * 37 % 256);
      });
  const auto result = ExpectIdeal(model, inputs, "x86-64-integer");
  EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
}

// A movement of a value with a scale for each channel: the axis follows the
// data, and where it does not survive that is said.
TEST(Movement, OfAScaleForEachChannel) {
  const auto text = [](const std::string& from, const std::string& to,
                       const std::string& node, int axis) {
    return "g (int8[" + from + "] q) => (float[" + to +
           "] y) <float[3] s = {0.5, 0.25, 3}, int8[3] z = {1, -2, 3},"
           " int64[2] six = {2, 6}, int64[2] three = {3, -1}> {"
           " x = DequantizeLinear <axis = " +
           std::to_string(axis) + "> (q, s, z) [move] y = " + node + " }";
  };
  struct Case {
    const char *from, *to, *node;
    int axis;
    bool survives;
  };
  for (const Case& c : {Case{"2,3", "3,2", "Transpose(x)", 1, true},
                        Case{"3,1,4", "3,4", "Reshape(x, three)", 0, true},
                        Case{"3,2,2", "3,4", "Flatten(x)", 0, true},
                        Case{"2,3,2", "2,6", "Reshape(x, six)", 1, false}}) {
    SCOPED_TRACE(c.node);
    const auto model = ModelOf(text(c.from, c.to, c.node, c.axis));
    const Ideals inputs =
        InputsOf(model, [](onnx::TensorProto_DataType, int64_t i) {
          return static_cast<double>(i * 37 % 256) - 128;
        });
    const auto result = ExpectIdeal(model, inputs);
    const bool said = Describe(result).find(
                          "fold_qdq kept 'move': the axis of the "
                          "quantization does not survive") != std::string::npos;
    EXPECT_EQ(said, !c.survives) << Describe(result);
  }
}

}  // namespace
}  // namespace fold::regress
