#include "compiler/passes/dequantized.h"

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

Graph TwoReaders(const std::string& outputs) {
  return GraphOf(
      "fir 1 simplified\n"
      "graph @g(%q: u8[2] q(s=0.5 z=3), %f: f32[2]) -> " +
      outputs +
      R"( {
  %s = const f32[] [0.5]
  %z = const u8[] [3]
  %d = dequantize_linear(%q, %s, %z) : f32[2] name "dq" loc("dq")
  %y = relu(%d) : f32[2] name "relu" loc("relu")
  %u = relu(%d) : f32[2] name "relu2" loc("relu2")
  %v = relu(%f) : f32[2] name "relu3" loc("relu3")
})");
}

TEST(IntegerRewrite, CodesBehindADequantizeLinear) {
  Graph graph = TwoReaders("(%y, %u, %v)");
  Rewriter rewriter(graph);
  IntegerRewrite rewrite(rewriter, MakerOf(graph, "y"), "rule");
  EXPECT_EQ(rewrite.Codes(graph.FindValue("d")), graph.FindValue("q"));
  EXPECT_EQ(rewrite.Codes(graph.FindValue("f")), std::nullopt);
  const auto encoding =
      IntegerRewrite::EncodingOfReal(graph, graph.FindValue("d"));
  ASSERT_TRUE(encoding);
  EXPECT_EQ(encoding->scales[0], 0.5);
  EXPECT_EQ(encoding->zero_points[0], 3);
  EXPECT_FALSE(IntegerRewrite::EncodingOfReal(graph, graph.FindValue("f")));
}

// The DequantizeLinear goes only with the last that reads it.
TEST(IntegerRewrite, TakesTheDequantizeLinearThatNobodyElseReads) {
  Graph graph = TwoReaders("(%y, %u)");
  Rewriter rewriter(graph);
  for (const char* name : {"y", "u"}) {
    IntegerRewrite rewrite(rewriter, MakerOf(graph, name), "rule");
    const ValueId codes = *rewrite.Codes(graph.FindValue("d"));
    const ValueId result =
        rewriter.Declare(name, graph.value(graph.FindValue(name)).type);
    Node node = rewrite.Successor(Op::kRequantize);
    node.operands = {codes};
    node.results = {result};
    rewrite.Add(node);
    ASSERT_TRUE(rewrite.Apply(result)) << rewriter.refused()[0].reason;
  }
  EXPECT_EQ(graph.node(MakerOf(graph, "y")).provenance.nodes,
            std::vector<std::string>{"relu"});
  EXPECT_EQ(graph.node(MakerOf(graph, "u")).provenance.nodes,
            (std::vector<std::string>{"dq", "relu2"}));
  EXPECT_EQ(graph.node(MakerOf(graph, "u")).name, "relu2");
  EXPECT_EQ(graph.node_count(), 3u);  // and the third relu
}

bool Ends(const std::string& nodes) {
  const Graph graph = GraphOf(
      "fir 1 simplified\ngraph @g(%x: f32[2,2], %b: f32[2,2]) -> %y {\n"
      "%s = const f32[] [0.5]\n%t = const f32[2] [1,2]\n" +
      nodes + "\n}");
  return EndsInQuantize(graph, graph.FindValue("x"));
}

TEST(EndsInQuantize, ThroughStepsAlone) {
  EXPECT_TRUE(Ends("%y = quantize_linear(%x, %s) : u8[2,2] q(s=0.5 z=0)"));
  EXPECT_TRUE(
      Ends("%a = relu(%x) : f32[2,2]\n%b2 = mul(%a, %s) : f32[2,2]\n"
           "%y = quantize_linear(%b2, %s) : u8[2,2] q(s=0.5 z=0)"));
  EXPECT_FALSE(
      Ends("%a = add(%x, %b) : f32[2,2]\n"
           "%y = quantize_linear(%a, %s) : u8[2,2] q(s=0.5 z=0)"));
  EXPECT_FALSE(Ends("%y = relu(%x) : f32[2,2]"));
  EXPECT_FALSE(
      Ends("%a = relu(%x) : f32[2,2]\n%c = relu(%x) : f32[2,2]\n"
           "%y = quantize_linear(%a, %s) : u8[2,2] q(s=0.5 z=0)"));
  // Scales by channel are no code of one kind.
  EXPECT_FALSE(
      Ends("%y = quantize_linear(%x, %t) {axis=1} : u8[2,2] "
           "q(s=[1,2] z=0 axis=1)"));
}

}  // namespace
}  // namespace fold
