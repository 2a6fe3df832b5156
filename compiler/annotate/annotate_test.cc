// Every source of an encoding and every fault of one. What the graph looks like
// afterwards is in compiler/passes/annotate.fir.
#include "compiler/annotate/annotate.h"

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

// A DequantizeLinear of i8[`shape`] with these parameters.
Graph Dequantize(const std::string& shape, const std::string& scale,
                 const std::string& zero, const std::string& attributes = "") {
  return GraphOf("fir 1 imported\ngraph @g(%x: i8[" + shape + "]) -> %y {\n" +
                 "%s = const f32" + scale + "\n%z = const " + zero +
                 "\n%y = dequantize_linear(%x, %s, %z) " + attributes +
                 ": f32[" + shape + "] name \"dq\"\n}");
}

const std::optional<Encoding>& EncodingNamed(const Graph& graph,
                                             const std::string& name) {
  return graph.value(graph.FindValue(name)).type.encoding;
}

void ExpectFault(Graph graph, DiagnosticCode code, const std::string& node,
                 const std::string& message) {
  Diagnostics sink;
  EXPECT_FALSE(Annotate(graph, &sink));
  EXPECT_EQ(graph.stage, Stage::imported);
  ASSERT_EQ(sink.all().size(), 1u);
  EXPECT_STREQ(KindOf(sink.all()[0].code).name, KindOf(code).name);
  EXPECT_EQ(sink.all()[0].node, node);
  EXPECT_NE(sink.all()[0].message.find(message), std::string::npos)
      << sink.all()[0].message;
}

TEST(Annotate, PerTensorInEveryShape) {
  for (const char* scale : {"[] [0.5]", "[1] [0.5]", "[1,1] [0.5]"}) {
    // The default axis 1 is outside of a vector; one scale does not need it.
    for (const char* shape : {"3", "", "2,3"}) {
      Graph graph = Dequantize(shape, scale, "i8[] [-3]");
      Diagnostics sink;
      ASSERT_TRUE(Annotate(graph, &sink)) << shape;
      const auto& encoding = EncodingNamed(graph, "x");
      ASSERT_TRUE(encoding);
      EXPECT_TRUE(encoding->per_tensor());
      EXPECT_EQ(encoding->scales, std::vector<double>{0.5});
      EXPECT_EQ(encoding->zero_points, std::vector<int64_t>{-3});
      EXPECT_EQ(encoding->source, "dq");
    }
  }
}

TEST(Annotate, PerAxis) {
  Graph graph = Dequantize("2,3", "[3] [1,2,4]", "i8[3] [0,1,2]");
  Diagnostics sink;
  ASSERT_TRUE(Annotate(graph, &sink));
  EXPECT_EQ(graph.stage, Stage::annotated);
  EXPECT_EQ(EncodingNamed(graph, "x")->axis, 1);
  Graph rear = Dequantize("3,2", "[3] [1,2,4]", "i8[] [7]", "{axis=-2} ");
  ASSERT_TRUE(Annotate(rear, &sink));
  EXPECT_EQ(EncodingNamed(rear, "x")->axis, 0);
  // One zero point stands for all.
  EXPECT_EQ(EncodingNamed(rear, "x")->zero_points,
            (std::vector<int64_t>{7, 7, 7}));
}

// The scale is the number that the float32 encodes, digit for digit.
TEST(Annotate, ScalesAreExact) {
  Graph graph = Dequantize("2", "[] [0.1]", "i8[] [0]");
  Diagnostics sink;
  ASSERT_TRUE(Annotate(graph, &sink));
  EXPECT_EQ(EncodingNamed(graph, "x")->scales[0], static_cast<double>(0.1f));
}

TEST(Annotate, BadScales) {
  for (const char* scale : {"0", "-0.5", "inf", "-inf", "nan"}) {
    ExpectFault(Dequantize("2", "[] [" + std::string(scale) + "]", "i8[] [0]"),
                DiagnosticCode::bad_scale, "dq", "greater than zero");
    ExpectFault(
        Dequantize("2,2", "[2] [1," + std::string(scale) + "]", "i8[] [0]"),
        DiagnosticCode::bad_scale, "dq", "greater than zero");
  }
}

TEST(Annotate, BadAxes) {
  ExpectFault(Dequantize("3", "[3] [1,2,4]", "i8[] [0]"),
              DiagnosticCode::bad_axis, "dq", "axis 1 is outside");
  ExpectFault(Dequantize("2,3", "[3] [1,2,4]", "i8[] [0]", "{axis=-3} "),
              DiagnosticCode::bad_axis, "dq", "axis -3 is outside");
  ExpectFault(Dequantize("2,3", "[2] [1,2]", "i8[] [0]"),
              DiagnosticCode::bad_axis, "dq", "2 scales do not fit");
}

TEST(Annotate, BadZeroPoints) {
  ExpectFault(Dequantize("2,3", "[3] [1,2,4]", "i8[2] [0,0]"),
              DiagnosticCode::bad_zero_point, "dq", "2 zero points for 3");
  ExpectFault(Dequantize("2", "[] [1]", "f32[] [0]"),
              DiagnosticCode::unsupported_type, "dq", "f32");
}

TEST(Annotate, DynamicParametersNameTheNode) {
  ExpectFault(GraphOf(R"(fir 1 imported
graph @g(%x: f32[4]) -> %y {
  %m = reduce_mean(%x) {keepdims=0} : f32[] name "mean"
  %y = quantize_linear(%x, %m) : u8[4] name "q1"
})"),
              DiagnosticCode::dynamic_quantization, "q1", "run time");
  ExpectFault(GraphOf(R"(fir 1 imported
graph @g(%x: f32[4], %z: u8[]) -> %y {
  %s = const f32[] [1]
  %y = quantize_linear(%x, %s, %z) : u8[4] loc("q2")
})"),
              DiagnosticCode::dynamic_quantization, "q2", "run time");
}

TEST(Annotate, AllFaultsAreReported) {
  Graph graph = GraphOf(R"(fir 1 imported
graph @g(%x: f32[4], %t: f32[]) -> (%a, %b) {
  %s = const f32[] [0]
  %a = quantize_linear(%x, %s) : u8[4] name "q1"
  %b = quantize_linear(%x, %t) : u8[4] name "q2"
})");
  Diagnostics sink;
  EXPECT_FALSE(Annotate(graph, &sink));
  ASSERT_EQ(sink.all().size(), 2u);
  EXPECT_EQ(sink.all()[0].node, "q1");
  EXPECT_EQ(sink.all()[1].node, "q2");
}

TEST(Annotate, NodesKeepWhatTheyState) {
  Graph graph = GraphOf(R"(fir 1 imported
graph @g(%x: i8[2]) -> (%a, %b) {
  %s = const f32[] [0.5]
  %t = const f32[] [0.25]
  %a = dequantize_linear(%x, %s) : f32[2] name "dq1"
  %b = dequantize_linear(%x, %t) : f32[2] name "dq2"
})");
  Diagnostics sink;
  ASSERT_TRUE(Annotate(graph, &sink));
  EXPECT_EQ(EncodingNamed(graph, "x")->scales[0], 0.5);
  EXPECT_EQ(EncodingOf(graph, MakerOf(graph, "a"), &sink)->scales[0], 0.5);
  EXPECT_EQ(EncodingOf(graph, MakerOf(graph, "b"), &sink)->scales[0], 0.25);
  EXPECT_TRUE(sink.all().empty());
}

// x_scale * w_scale, exact where two float32 numbers are multiplied.
TEST(Annotate, BiasOfAQLinearConv) {
  Graph graph = GraphOf(R"(fir 1 imported
graph @g(%x: u8[1,1,3]) -> %y {
  %xs = const f32[] [0.1]
  %xz = const u8[] [128]
  %w = const i8[2,1,3] [1,2,3,4,5,6]
  %ws = const f32[2] [0.3,0.7]
  %wz = const i8[2] [0,0]
  %b = const i32[2] [100,-100]
  %y = qlinear_conv(%x, %xs, %xz, %w, %ws, %wz, %xs, %xz, %b) : u8[1,2,1] name "conv"
})");
  Diagnostics sink;
  ASSERT_TRUE(Annotate(graph, &sink));
  const auto& bias = EncodingNamed(graph, "b");
  ASSERT_TRUE(bias);
  EXPECT_EQ(bias->axis, 0);
  EXPECT_EQ(bias->scales[0],
            static_cast<double>(0.1f) * static_cast<double>(0.3f));
  EXPECT_EQ(bias->scales[1],
            static_cast<double>(0.1f) * static_cast<double>(0.7f));
  EXPECT_EQ(bias->zero_points, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(EncodingNamed(graph, "w")->axis, 0);
}

}  // namespace
}  // namespace fold
