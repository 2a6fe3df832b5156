#include "compiler/annotate/qonnx.h"

#include <cmath>

#include "compiler/annotate/annotate.h"
#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

// A Quant of f32[2,3] with these parameters, named "q".
Graph Quant(const std::string& scale, const std::string& zero,
            const std::string& bits, const std::string& attributes = "{}") {
  return GraphOf("fir 1 imported\ngraph @g(%x: f32[2,3]) -> %y {\n%s = const " +
                 scale + "\n%z = const " + zero + "\n%b = const " + bits +
                 "\n%y = quant(%x, %s, %z, %b) " + attributes +
                 " : f32[2,3] name \"q\"\n}");
}

std::optional<Encoding> Read(const Graph& graph, Diagnostics* sink) {
  return QonnxEncoding(graph, graph.order()[0], sink);
}

Encoding Good(const Graph& graph) {
  Diagnostics sink;
  const auto encoding = Read(graph, &sink);
  EXPECT_TRUE(encoding) << (sink.all().empty() ? "" : sink.all()[0].message);
  return encoding.value_or(Encoding());
}

void ExpectFault(const Graph& graph, DiagnosticCode code,
                 const std::string& message) {
  Diagnostics sink;
  EXPECT_FALSE(Read(graph, &sink));
  ASSERT_EQ(sink.all().size(), 1u);
  EXPECT_STREQ(KindOf(sink.all()[0].code).name, KindOf(code).name);
  EXPECT_EQ(sink.all()[0].node, "q");
  EXPECT_NE(sink.all()[0].message.find(message), std::string::npos)
      << sink.all()[0].message;
}

constexpr char kZero[] = "f32[] [0]", kFour[] = "f32[] [4]",
               kQuarter[] = "f32[] [0.25]";

TEST(Qonnx, RangesOfCodes) {
  const struct {
    const char* bits;
    const char* attributes;
    int64_t low, high;
    ElementType storage;
  } cases[] = {
      {"f32[] [8]", "{}", -128, 127, ElementType::i8},
      {"f32[] [8]", "{narrow=1}", -127, 127, ElementType::i8},
      {"f32[] [8]", "{signed=0}", 0, 255, ElementType::u8},
      {"f32[] [8]", "{signed=0, narrow=1}", 0, 254, ElementType::u8},
      {"i64[] [3]", "{signed=1}", -4, 3, ElementType::i8},
      {"f32[] [1]", "{}", -1, 0, ElementType::i8},
      {"f32[] [1]", "{narrow=1}", 0, 0, ElementType::u8},
      {"f32[] [9]", "{}", -256, 255, ElementType::i16},
      {"f32[] [16]", "{signed=0}", 0, 65535, ElementType::u16},
      {"f32[] [32]", "{}", INT32_MIN, INT32_MAX, ElementType::i32},
      {"f32[] [32]", "{signed=0}", 0, UINT32_MAX, ElementType::u32},
  };
  for (const auto& c : cases) {
    const Encoding e = Good(Quant(kQuarter, kZero, c.bits, c.attributes));
    EXPECT_EQ(e.code_low, c.low) << c.bits << c.attributes;
    EXPECT_EQ(e.code_high, c.high) << c.bits << c.attributes;
    EXPECT_EQ(StorageOf(e), c.storage) << c.bits << c.attributes;
    EXPECT_TRUE(e.per_tensor());
    EXPECT_EQ(e.source, "quant 'q'");
  }
}

TEST(Qonnx, Roundings) {
  const struct {
    const char* mode;
    const char* zero;
    Rounding rounding;
  } cases[] = {
      {"ROUND", "0", Rounding::kHalfEven},
      {"round", "2", Rounding::kHalfEven},
      {"HALF_EVEN", "-3", Rounding::kHalfOdd},
      {"FLOOR", "1", Rounding::kFloor},
      {"ceil", "1", Rounding::kCeil},
      {"UP", "0", Rounding::kFromZero},
      {"DOWN", "0", Rounding::kToZero},
      {"ROUND_TO_ZERO", "0", Rounding::kToZero},
      {"HALF_UP", "0", Rounding::kHalfFromZero},
      {"HALF_DOWN", "0", Rounding::kHalfToZero},
  };
  for (const auto& c : cases) {
    const Encoding e =
        Good(Quant(kQuarter, std::string("f32[] [") + c.zero + "]", kFour,
                   std::string("{rounding_mode=\"") + c.mode + "\"}"));
    EXPECT_EQ(e.rounding, c.rounding) << c.mode;
  }
}

// Ties go to the even code, whatever the parity of each zero point.
TEST(Qonnx, EvenAndOddZeroPoints) {
  const Encoding e = Good(Quant("f32[2,1] [1,2]", "f32[2,1] [0,1]", kFour));
  EXPECT_EQ(e.rounding, Rounding::kHalfEvenCode);
  EXPECT_EQ(RoundingFor(e.rounding, 0), Rounding::kHalfEven);
  EXPECT_EQ(RoundingFor(e.rounding, -1), Rounding::kHalfOdd);
  EXPECT_EQ(RoundingFor(Rounding::kFloor, 1), Rounding::kFloor);
}

TEST(Qonnx, ParametersBroadcast) {
  Encoding e = Good(Quant("f32[2,1] [0.5,0.25]", kZero, kFour));
  EXPECT_EQ(e.axis, 0);
  EXPECT_EQ(e.zero_points, (std::vector<int64_t>{0, 0}));
  e = Good(Quant("f32[3] [0.5,0.25,1]", "i64[1,3] [1,3,5]", kFour));
  EXPECT_EQ(e.axis, 1);
  EXPECT_EQ(e.zero_points, (std::vector<int64_t>{1, 3, 5}));
  EXPECT_EQ(e.rounding, Rounding::kHalfOdd);
  // One scale and a zero point a row.
  e = Good(Quant(kQuarter, "f32[2,1] [2,4]", kFour));
  EXPECT_EQ(e.axis, 0);
  EXPECT_EQ(e.scales, (std::vector<double>{0.25, 0.25}));
  // Alike everywhere: one for the tensor.
  e = Good(Quant("f32[2,1] [0.5,0.5]", kZero, kFour));
  EXPECT_TRUE(e.per_tensor());
}

TEST(Qonnx, BipolarIsASign) {
  const Encoding e = Good(GraphOf(
      "fir 1 imported\ngraph @g(%x: f32[2]) -> %y {\n%s = const f32[] [0.5]\n"
      "%y = bipolar_quant(%x, %s) : f32[2] name \"q\"\n}"));
  EXPECT_EQ(e.rounding, Rounding::kSign);
  EXPECT_EQ(e.code_low, -1);
  EXPECT_EQ(e.code_high, 1);
  EXPECT_EQ(e.scales, std::vector<double>{0.5});
}

Graph Trunc(const std::string& out_scale, const std::string& zero,
            const std::string& attributes = "{}") {
  return GraphOf(
      "fir 1 imported\ngraph @g(%x: f32[2,3]) -> %y {\n"
      "%s = const f32[] [0.25]\n%z = const f32[] " +
      zero + "\n%ib = const f32[] [8]\n%os = const f32[] " + out_scale +
      "\n%ob = const f32[] [4]\n%y = trunc(%x, %s, %z, %ib, %os, %ob) " +
      attributes + " : f32[2,3] name \"q\"\n}");
}

TEST(Qonnx, TruncDropsBits) {
  Graph graph = Trunc("[4]", "[32]", "{signed=0}");
  Diagnostics sink;
  ASSERT_TRUE(Annotate(graph, &sink));
  const Node& node = graph.node(graph.order()[0]);
  const Encoding& e = *graph.value(node.results[0]).type.encoding;
  EXPECT_EQ(e.scales, std::vector<double>{4});
  EXPECT_EQ(e.zero_points, std::vector<int64_t>{2});
  EXPECT_EQ(e.rounding, Rounding::kFloor);
  EXPECT_EQ(e.code_high, 15);
  EXPECT_EQ(TruncAddend(graph, node), 0.125);
  // Checked against the definition: the input is rounded to its own grid,
  // half to even, and then loses four bits downwards.
  for (int i = -2000; i < 2000; ++i) {
    const double x = i / 32.0;
    const double want = std::floor(std::nearbyint(x / 0.25 + 32) / 16);
    EXPECT_EQ(std::floor((x + 0.125) / 4) + 2, want) << x;
  }
}

TEST(Qonnx, TruncFaults) {
  ExpectFault(Trunc("[3]", "[0]"), DiagnosticCode::bad_scale,
              "no power of two");
  ExpectFault(Trunc("[4]", "[8]"), DiagnosticCode::bad_zero_point,
              "no multiple");
  ExpectFault(Trunc("[4]", "[0]", "{rounding_mode=\"ROUND\"}"),
              DiagnosticCode::unsupported_attribute, "FLOOR or CEIL");
  ExpectFault(GraphOf("fir 1 imported\ngraph @g(%x: f32[2]) -> %y {\n"
                      "%s = const f32[] [0.25]\n%z = const f32[] [0]\n"
                      "%b = const f32[] [8]\n"
                      "%y = trunc(%x, %s, %z, %b, %b) : f32[2] name \"q\"\n}"),
              DiagnosticCode::unsupported_operator, "export it with version 2");
}

TEST(Qonnx, Faults) {
  using Code = DiagnosticCode;
  ExpectFault(Quant("f32[] [0]", kZero, kFour), Code::bad_scale,
              "greater than zero");
  ExpectFault(Quant("f32[2,3] [1,2,3,4,5,6]", kZero, kFour), Code::bad_axis,
              "its scale fits no single dimension");
  ExpectFault(Quant("f32[2] [1,2]", kZero, kFour), Code::bad_axis,
              "its scale fits no single dimension");
  ExpectFault(Quant("f32[1,1,1] [1]", kZero, kFour), Code::bad_axis,
              "3 dimensions");
  ExpectFault(Quant("f32[2,1] [1,2]", "f32[3] [0,2,4]", kFour), Code::bad_axis,
              "different dimensions");
  ExpectFault(Quant(kQuarter, "f32[] [0.5]", kFour), Code::bad_zero_point,
              "not a whole number");
  ExpectFault(Quant(kQuarter, kZero, "f32[] [2.5]"),
              Code::unsupported_attribute, "its bit width");
  ExpectFault(Quant(kQuarter, kZero, "f32[] [33]"), Code::unsupported_attribute,
              "its bit width");
  ExpectFault(Quant(kQuarter, kZero, kFour, "{rounding_mode=\"SOMEHOW\"}"),
              Code::unsupported_attribute, "no rounding mode 'SOMEHOW'");
  ExpectFault(Quant(kQuarter, "f32[] [1]", kFour, "{rounding_mode=\"UP\"}"),
              Code::unsupported_attribute, "zero point other than 0");
  ExpectFault(GraphOf("fir 1 imported\ngraph @g(%x: f32[2], %s: f32[]) -> %y "
                      "{\n%y = bipolar_quant(%x, %s) : f32[2] name \"q\"\n}"),
              Code::dynamic_quantization, "its scale is computed at run time");
}

}  // namespace
}  // namespace fold
