// c / x in every form that it is written in, held against exact rationals for
// every code of x, on a target that divides a constant by a value and on those
// that look it up.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/regress/compiled.h"

namespace fold::regress {
namespace {

constexpr const char* kTargets[] = {"x86-64", "x86-64-integer",
                                    "x86-64-reciprocal"};

// Codes of x for every element: element i of a batch of 256 has code i.
Ideals AllCodes(const onnx::ModelProto& model, int64_t count, double lowest) {
  return InputsOf(model, [=](onnx::TensorProto_DataType, int64_t i) {
    return lowest + static_cast<double>(i % count);
  });
}

// The dividend: its declaration, and the nodes that make `c`.
struct Dividend {
  const char* what;
  const char* constants;
  const char* nodes;
  bool fits_reciprocal;
};

const Dividend kDividends[] = {
    {"scalar", "float c = {1.7}", "", true},
    {"negative", "float[1] c = {-0.3}", "", true},
    {"zero", "float c = {0}", "", true},
    {"minus zero", "float c = {-0.0}", "", true},
    {"overflow", "float c = {3.4e38}", "", true},
    {"underflow", "float c = {1e-38}", "", true},
    {"channel", "float[3,1] c = {1.5, -0.25, 0}", "", true},
    {"last dimension", "float[2] c = {3, -1.25}", "", false},
    {"full", "float[3,2] c = {1, 2, -3, 0.5, 0, 7}", "", false},
    {"larger", "float[2,256,3,2] c", "", false},
    {"quantized scalar", "uint8 k = {17}, float sk = {0.3}, uint8 zk = {200}",
     " c = DequantizeLinear(k, sk, zk)", true},
    {"quantized channel",
     "int8[3,1] k = {-100, 4, 50}, float[3] sk = {0.3, 0.01, 2},"
     " int8[3] zk = {0, 4, -7}",
     " c = DequantizeLinear <axis = 0> (k, sk, zk)", true},
    {"quantized full",
     "int8[3,2] k = {-100, 4, 50, 1, 2, 3}, float sk = {0.02}, int8 zk = {3}",
     " c = DequantizeLinear(k, sk, zk)", false},
};

std::string Constants(const Dividend& dividend) {
  std::string text = dividend.constants;
  if (text.find('{') != std::string::npos) return text;
  std::string numbers;  // few different ones
  for (int i = 0; i < 2 * 256 * 6; ++i) {
    numbers += (i ? ", " : " = {") + std::to_string(i % 11 - 5);
  }
  return text + numbers + "}";
}

std::string Division(const Dividend& dividend, const std::string& type,
                     const std::string& zero) {
  const std::string result =
      std::string(dividend.what) == "larger" ? "2,256,3,2" : "256,3,2";
  return "g (" + type + "[256,3,2] q) => (int8[" + result +
         "] y) <float sx = {0.037}, " + type + " zx = {" + zero +
         "}, float sy = {0.09}, int8 zy = {11}, " + Constants(dividend) +
         "> { x = DequantizeLinear(q, sx, zx)" + dividend.nodes +
         " [over] d = Div(c, x) y = QuantizeLinear(d, sy, zy) }";
}

TEST(Division, EveryFormOnEveryTargetForEveryCode) {
  int combinations = 0;
  for (const Dividend& dividend : kDividends) {
    for (const auto& [type, zero, lowest] :
         {std::tuple("int8", "-3", -128.0), std::tuple("uint8", "130", 0.0),
          std::tuple("uint8", "0", 0.0)}) {
      for (const char* target : kTargets) {
        SCOPED_TRACE(std::string(dividend.what) + " over " + type + " on " +
                     target);
        const auto model = ModelOf(Division(dividend, type, zero));
        // Six elements of each batch entry have the same code.
        const Ideals inputs =
            InputsOf(model, [lowest = lowest](auto, int64_t i) {
              return lowest + static_cast<double>(i / 6 % 256);
            });
        const auto result = ExpectIdeal(model, inputs, target);
        ++combinations;
        if (HasFailure()) return;
        EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
        // The checker does not follow an element that counts twice.
        if (std::string(dividend.what) != "larger") {
          ExpectChecked(result, model);
        }
        EXPECT_EQ(HasKind(result, "reciprocal"),
                  dividend.fits_reciprocal &&
                      std::string(target) == "x86-64-reciprocal")
            << Describe(result);
      }
    }
  }
  EXPECT_EQ(combinations, 13 * 3 * 3);
}

std::string SixteenBits(const std::string& x, const std::string& y) {
  return "g (" + x + "[32768,2] q) => (" + y +
         "[32768,2] y) <float sx = {0.0037}, " + x +
         " zx = {5}, float sy = {0.0009}, " + y +
         " zy = {11}, float c = {-1.3}> {"
         " x = DequantizeLinear(q, sx, zx) d = Div(c, x)"
         " y = QuantizeLinear(d, sy, zy) }";
}

// x and the result of 16 bits: 65,536 codes.
TEST(Division, SixteenBits) {
  for (const char* x : {"int16", "uint16"}) {
    for (const char* y : {"int16", "int8"}) {
      for (const char* target : kTargets) {
        SCOPED_TRACE(std::string(x) + " to " + y + " on " + target);
        const auto model = ModelOf(SixteenBits(x, y), 21);
        const int64_t lowest = std::string(x) == "int16" ? -32768 : 0;
        const auto result =
            ExpectIdeal(model, AllCodes(model, 65536, lowest), target);
        ASSERT_FALSE(HasFailure()) << Describe(result);
        EXPECT_EQ(HasKind(result, "reciprocal"),
                  std::string(target) == "x86-64-reciprocal");
      }
    }
  }
}

// 0 / 0 is a warning, and an error where an exact result is required; not where
// the code cannot come.
TEST(Division, NanIsReported) {
  const auto model = [](const std::string& clip) {
    return ModelOf(
        "g (float[6] f) => (int8[6] y)"
        " <float s = {0.25}, uint8 z = {8}, int8 w = {3}, float c = {0},"
        "  float lo = {0.5}, float hi = {3}> {" +
        clip +
        " q = QuantizeLinear(e, s, z) x = DequantizeLinear(q, s, z)"
        " [over] d = Div(c, x) y = QuantizeLinear(d, s, w) }");
  };
  const auto warned = [](const CompileResult& result) {
    const auto& all = result.report.diagnostics;
    return std::any_of(all.begin(), all.end(), [](const Diagnostic& d) {
      return d.code == DiagnosticCode::nan_reachable && d.node == "over" &&
             d.severity() == Severity::kWarning;
    });
  };
  for (const char* target : kTargets) {
    CompileOptions exact;
    exact.require_exact = true;
    const auto open = model(" e = Identity(f)");
    auto result = CompileModel(open, {}, target);
    EXPECT_EQ(result.exit_code, 0) << Describe(result);
    EXPECT_TRUE(warned(result)) << Describe(result);
    result = CompileModel(open, exact, target);
    EXPECT_EQ(result.exit_code, 4) << Describe(result);
    EXPECT_EQ(result.report.diagnostics.back().node, "over");
    const auto limited = model(" e = Clip(f, lo, hi)");
    result = CompileModel(limited, exact, target);
    EXPECT_EQ(result.exit_code, 0) << Describe(result);
    EXPECT_FALSE(warned(result)) << Describe(result);
  }
}

// A negative scale is refused where it is bound, on either side.
TEST(Division, NegativeScales) {
  ExpectRefusal(ModelOf("g (int8[4] q) => (int8[4] y)"
                        " <float s = {-0.5}, float t = {1}, int8 z = {0},"
                        "  float c = {1}> {"
                        " [dq] x = DequantizeLinear(q, s, z) d = Div(c, x)"
                        " y = QuantizeLinear(d, t, z) }"),
                DiagnosticCode::bad_scale, "dq");
  ExpectRefusal(ModelOf("g (int8[4] q) => (int8[4] y)"
                        " <float s = {0.5}, float t = {-1}, int8 z = {0},"
                        "  int8 c = {1}> {"
                        " [dq] k = DequantizeLinear(c, t, z)"
                        " x = DequantizeLinear(q, s, z) d = Div(k, x)"
                        " y = QuantizeLinear(d, s, z) }"),
                DiagnosticCode::bad_scale, "dq");
}

// Steps on either side of the division, and a division of what a sum gives.
TEST(Division, InChains) {
  for (const char* nodes :
       {" d = Div(c, x) e = Mul(d, m) r = Relu(e)",
        " d = Div(c, x) r = Add(d, m)", " e = Add(x, m) r = Div(c, e)",
        " e = Relu(x) d = Div(c, e) r = Sub(m, d)",
        " e = Div(c, x) d = Div(m, e) r = Clip(d, lo, hi)",
        " d = Div(c, x) e = Clip(d, lo, hi) r = Mul(e, m)"}) {
    for (const char* target : kTargets) {
      SCOPED_TRACE(std::string(nodes) + " on " + target);
      // 3 is no code, so that no infinity meets an addition.
      const auto model = ModelOf(
          "g (uint8[255] q) => (int8[255] y)"
          " <float sx = {0.037}, uint8 zx = {0}, float sy = {0.09},"
          "  int8 zy = {11}, float c = {1.7}, float m = {0.61},"
          "  float lo = {-0.5}, float hi = {4}> {"
          " x = DequantizeLinear(q, sx, zx)" +
          std::string(nodes) + " y = QuantizeLinear(r, sy, zy) }");
      const auto result = ExpectIdeal(model, AllCodes(model, 255, 1), target);
      ASSERT_FALSE(HasFailure()) << Describe(result);
      EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
      EXPECT_EQ(result.report.ops.size(), 1u) << Describe(result);
    }
  }
}

// A constant over the result of a linear op is no step of it.
TEST(Division, OfALinearResultIsNamed) {
  const auto model = ModelOf(
      "g (float[3,4] f) => (uint8[3,2] y)"
      " <float sx = {0.0413}, uint8 zx = {100}, float sw = {0.01},"
      "  int8 zw = {0}, float sy = {0.0517}, uint8 zy = {120},"
      "  int8[4,2] w = {1, 2, 3, 4, 5, 6, 7, 8}, float c = {1.5}> {"
      " q = QuantizeLinear(f, sx, zx) x = DequantizeLinear(q, sx, zx)"
      " v = DequantizeLinear(w, sw, zw) p = MatMul(x, v)"
      " [over] d = Div(c, p) y = QuantizeLinear(d, sy, zy) }");
  const auto result = CompileModel(model);
  EXPECT_EQ(result.exit_code, 0) << Describe(result);
  EXPECT_TRUE(HasKind(result, "f64_binary")) << Describe(result);
  const auto refused = CompileModel(model, {}, "x86-64-reciprocal");
  EXPECT_EQ(refused.exit_code, 3) << Describe(refused);
  EXPECT_EQ(refused.report.diagnostics.back().node, "over");
}

// Quotients of two values are a table of all pairs.
TEST(Division, OfTwoValues) {
  const auto model = ModelOf(
      "g (int8[256,1] p, uint8[256] q) => (int8[256,256] y)"
      " <float sp = {0.021}, int8 zp = {-4}, float sx = {0.037},"
      "  uint8 zx = {130}, float sy = {0.05}, int8 zy = {11}> {"
      " a = DequantizeLinear(p, sp, zp) x = DequantizeLinear(q, sx, zx)"
      " d = Div(a, x) y = QuantizeLinear(d, sy, zy) }");
  const Ideals inputs = InputsOf(model, [](onnx::TensorProto_DataType type,
                                           int64_t i) {
    return static_cast<double>(i) - (type == onnx::TensorProto::INT8 ? 128 : 0);
  });
  const auto result = ExpectIdeal(model, inputs);
  EXPECT_TRUE(HasKind(result, "table_2")) << Describe(result);
}

// `node` on x and c, of which `constant` and `made` say what it is.
std::string WithConstant(const std::string& constant, const std::string& made,
                         const std::string& node) {
  return "g (uint8[256,3,2] q) => (int8[256,3,2] y)"
         " <float sx = {0.037}, uint8 zx = {130}, float sy = {0.09},"
         "  int8 zy = {11}, " +
         constant + "> { x = DequantizeLinear(q, sx, zx)" + made +
         " d = " + node + " y = QuantizeLinear(d, sy, zy) }";
}

// Whole tensors of constants in sums, differences and products.
TEST(Division, ConstantTensorsInSumsAndProducts) {
  const char* const constants[] = {
      "float[3,2] c = {1, 2, -3, 0.5, 0, 7}",
      "int8[3,2] k = {-100, 4, 50, 1, 2, 3}, float sk = {0.02}, int8 zk = {3}",
      "int8[3,2] k = {-100, 4, 50, 1, 2, 3}, float[2] sk = {0.02, 0.3},"
      " int8[2] zk = {3, 0}"};
  for (const char* constant : constants) {
    const std::string text = constant;
    const std::string axis =
        text.find("float[2]") == std::string::npos ? "" : " <axis = 1> ";
    const std::string made =
        text[0] == 'f' ? "" : " c = DequantizeLinear" + axis + "(k, sk, zk)";
    for (const char* node : {"Add(x, c)", "Add(c, x)", "Sub(c, x)", "Sub(x, c)",
                             "Mul(x, c)", "Div(x, c)"}) {
      SCOPED_TRACE(std::string(node) + " with " + text);
      const auto model = ModelOf(WithConstant(text, made, node));
      const Ideals inputs =
          InputsOf(model, [](onnx::TensorProto_DataType, int64_t i) {
            const int64_t code = i / 6;
            return static_cast<double>(code);
          });
      const auto result = ExpectIdeal(model, inputs);
      ASSERT_FALSE(HasFailure()) << Describe(result);
      EXPECT_TRUE(result.report.artifact.integer_only) << Describe(result);
    }
  }
}

}  // namespace
}  // namespace fold::regress
