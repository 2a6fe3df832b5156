#include "compiler/annotate/bind_written.h"

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

Graph Network(const std::string& bound) {
  return GraphOf(
      "fir 1 imported\ngraph @g(%x: f32[2]) -> %y {\n%s = const f32[] [0.25]\n"
      "%lo = const f32[] [-8]\n%d = div(%x, %s) : f32[2]\n%r = round(%d) : "
      "f32[2] name \"rounding\"\n%c = clip(%r, %lo, " +
      bound + ") : f32[2]\n%y = mul(%c, %s) : f32[2]\n}");
}

TEST(BindWritten, TheResultGetsTheEncoding) {
  Graph graph = Network("_");
  const auto near_misses = BindWrittenChains(graph);
  ASSERT_EQ(near_misses.size(), 1u);
  EXPECT_EQ(near_misses[0].node, MakerOf(graph, "r"));
  EXPECT_EQ(near_misses[0].reason, "nothing bounds its codes");
  EXPECT_FALSE(graph.value(graph.FindValue("y")).type.encoding);

  Graph whole = Network("%s");  // a bound between two codes
  EXPECT_EQ(BindWrittenChains(whole).size(), 1u);
  Graph good = Network("%lo");
  EXPECT_EQ(BindWrittenChains(good).size(), 1u);  // one code is no grid
}

TEST(BindWritten, TheSourceIsTheRounding) {
  Graph graph = GraphOf(
      "fir 1 imported\ngraph @g(%x: f32[2]) -> %y {\n%s = const f32[] [0.25]\n"
      "%lo = const f32[] [-8]\n%hi = const f32[] [7]\n%d = div(%x, %s) : "
      "f32[2]\n%r = round(%d) : f32[2] name \"rounding\"\n%c = clip(%r, %lo, "
      "%hi) : f32[2]\n%i = cast(%c) {to=3} : i8[2]\n%f = cast(%i) {to=1} : "
      "f32[2]\n%y = mul(%f, %s) : f32[2]\n}");
  // The Cast of whole numbers is no chain of its own.
  EXPECT_TRUE(BindWrittenChains(graph).empty());
  const auto& encoding = graph.value(graph.FindValue("y")).type.encoding;
  ASSERT_TRUE(encoding);
  EXPECT_EQ(FormatEncoding(*encoding), "s=0.25 z=0 codes=[-8,7]");
  EXPECT_EQ(encoding->source, "rounding");
  EXPECT_FALSE(graph.value(graph.FindValue("r")).type.encoding);
}

}  // namespace
}  // namespace fold
