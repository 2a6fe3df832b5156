// Chains as exporters write them, found in graphs.
#include "compiler/annotate/written_chain.h"

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

constexpr char kConstants[] =
    "%s = const f32[] [0.25]\n%four = const f32[] [4]\n"
    "%lo = const f32[] [-8]\n%hi = const f32[] [7]\n";

// "input -> result: encoding, nodes" of the chain around %r, or why not.
std::string Found(const std::string& body,
                  const std::string& head =
                      "%x: "
                      "f32[2,3]",
                  const std::string& outputs = "%y") {
  const Graph graph = GraphOf("fir 1 imported\ngraph @g(" + head + ") -> (" +
                              outputs + ") {\n" + kConstants + body + "\n}");
  std::string why;
  const auto chain = FindWrittenChain(graph, MakerOf(graph, "r"), &why);
  if (!chain) return why.empty() ? "nothing" : why;
  return graph.value(chain->input).name + " -> " +
         graph.value(chain->result).name + ": " +
         FormatEncoding(chain->grid.encoding) + ", " +
         std::to_string(chain->nodes.size()) +
         (chain->grid.plain() ? "" : " and a factor");
}

TEST(WrittenChain, DivideRoundClipMultiply) {
  EXPECT_EQ(Found("%d = div(%x, %s) : f32[2,3]\n%r = round(%d) : f32[2,3]\n"
                  "%c = clip(%r, %lo, %hi) : f32[2,3]\n"
                  "%y = mul(%c, %s) : f32[2,3]"),
            "x -> y: s=0.25 z=0 codes=[-8,7], 4");
}

TEST(WrittenChain, MinAndMaxAndConstantsOnTheLeft) {
  EXPECT_EQ(Found("%d = mul(%four, %x) : f32[2,3]\n%r = round(%d) : f32[2,3]\n"
                  "%c = max(%lo, %r) : f32[2,3]\n%e = min(%hi, %c) : "
                  "f32[2,3]\n%y = div(%e, %four) : f32[2,3]"),
            "x -> y: s=0.25 z=0 codes=[-8,7], 5");
}

TEST(WrittenChain, BoundsInFront) {
  EXPECT_EQ(Found("%c = clip(%x, %lo, %hi) : f32[2,3]\n%d = div(%c, %s) : "
                  "f32[2,3]\n%r = round(%d) : f32[2,3]\n%y = mul(%r, %s) : "
                  "f32[2,3]"),
            "x -> y: s=0.25 z=0 codes=[-32,28], 4");
  // A Relu in front is another step; one behind is a bound.
  EXPECT_EQ(Found("%d = div(%x, %s) : f32[2,3]\n%r = round(%d) : f32[2,3]\n"
                  "%c = clip(%r, %lo, %hi) : f32[2,3]\n%m = mul(%c, %s) : "
                  "f32[2,3]\n%y = relu(%m) : f32[2,3]"),
            "x -> y: s=0.25 z=0 codes=[0,7], 5");
}

TEST(WrittenChain, OldClipsHaveAttributes) {
  EXPECT_EQ(Found("%d = div(%x, %s) : f32[2,3]\n%r = round(%d) : f32[2,3]\n"
                  "%c = clip(%r) {max=7.0, min=-8.0} : f32[2,3]\n"
                  "%y = mul(%c, %s) : f32[2,3]"),
            "x -> y: s=0.25 z=0 codes=[-8,7], 4");
}

// What was there before the scale is not the quantization's business.
TEST(WrittenChain, AsFewNodesInFrontAsItTakes) {
  EXPECT_EQ(Found("%b = mul(%x, %four) : f32[2,3]\n%d = div(%b, %s) : "
                  "f32[2,3]\n%r = round(%d) : f32[2,3]\n%c = clip(%r, %lo, "
                  "%hi) : f32[2,3]\n%y = mul(%c, %s) : f32[2,3]"),
            "b -> y: s=0.25 z=0 codes=[-8,7], 4");
}

TEST(WrittenChain, WeightsAlongAnAxis) {
  const std::string weights =
      "%w = const f32[2,3] splat(1)\n%v = const f32[2,1] [0.5,0.25]\n";
  EXPECT_EQ(Found(weights + "%d = div(%w, %v) : f32[2,3]\n%r = round(%d) : "
                            "f32[2,3]\n%c = clip(%r, %lo, %hi) : f32[2,3]\n"
                            "%y = mul(%c, %v) : f32[2,3]"),
            "w -> y: s=[0.5,0.25] z=[0,0] axis=0 codes=[-8,7], 4");
  EXPECT_EQ(Found(weights + "%t = const f32[3] [1,2,4]\n%d = div(%w, %v) : "
                            "f32[2,3]\n%r = round(%d) : f32[2,3]\n%c = "
                            "clip(%r, %lo, %hi) : f32[2,3]\n%y = mul(%c, %t) "
                            ": f32[2,3]")
                .substr(0, 4),
            "d ->");  // what comes in is rounded as it is; the rest is a factor
}

// x + (q - x) is q.
TEST(WrittenChain, StraightThroughResiduals) {
  const std::string quantized =
      "%d = div(%x, %s) : f32[2,3]\n%r = round(%d) : f32[2,3]\n"
      "%c = clip(%r, %lo, %hi) : f32[2,3]\n%q = mul(%c, %s) : f32[2,3]\n";
  EXPECT_EQ(Found(quantized + "%t = sub(%q, %x) : f32[2,3]\n%y = add(%x, %t) "
                              ": f32[2,3]"),
            "x -> y: s=0.25 z=0 codes=[-8,7], 6");
  EXPECT_EQ(Found(quantized + "%n = neg(%x) : f32[2,3]\n%t = add(%n, %q) : "
                              "f32[2,3]\n%y = add(%t, %x) : f32[2,3]"),
            "x -> y: s=0.25 z=0 codes=[-8,7], 7");
  // Around the rounding alone.
  EXPECT_EQ(Found("%d = div(%x, %s) : f32[2,3]\n%r = round(%d) : f32[2,3]\n"
                  "%t = sub(%r, %d) : f32[2,3]\n%u = add(%d, %t) : f32[2,3]\n"
                  "%c = clip(%u, %lo, %hi) : f32[2,3]\n"
                  "%y = mul(%c, %s) : f32[2,3]"),
            "x -> y: s=0.25 z=0 codes=[-8,7], 6");
  // The other way round it is a reflection.
  EXPECT_EQ(Found(quantized + "%t = sub(%x, %q) : f32[2,3]\n%y = add(%x, %t) "
                              ": f32[2,3]"),
            "x -> q: s=0.25 z=0 codes=[-8,7], 4");
}

TEST(WrittenChain, Casts) {
  EXPECT_EQ(Found("%d = mul(%x, %four) : f32[2,3]\n%r = round(%d) : f32[2,3]\n"
                  "%c = clip(%r, %lo, %hi) : f32[2,3]\n%i = cast(%c) {to=3} : "
                  "i8[2,3]\n%f = cast(%i) {to=1} : f32[2,3]\n"
                  "%y = div(%f, %four) : f32[2,3]"),
            "x -> y: s=0.25 z=0 codes=[-8,7], 6");
}

TEST(WrittenChain, AFactorWhereInAndOutDisagree) {
  EXPECT_EQ(Found("%k = const f32[] [3]\n%d = mul(%x, %k) : f32[2,3]\n%r = "
                  "round(%d) : f32[2,3]\n%c = clip(%r, %lo, %hi) : f32[2,3]\n"
                  "%y = mul(%c, %s) : f32[2,3]"),
            "d -> y: s=0.25 z=0 codes=[-8,7], 3 and a factor");
}

TEST(WrittenChain, WhatIsNone) {
  EXPECT_EQ(Found("%r = round(%x) : f32[2,3]\n%y = add(%r, %r) : f32[2,3]"),
            "nothing");
  EXPECT_EQ(Found("%d = div(%x, %s) : f32[2,3]\n%r = round(%d) : f32[2,3]\n"
                  "%y = mul(%r, %s) : f32[2,3]"),
            "nothing bounds its codes");
  // The codes are wanted elsewhere too.
  EXPECT_EQ(Found("%d = div(%x, %s) : f32[2,3]\n%c = clip(%d, %lo, %hi) : "
                  "f32[2,3]\n%r = round(%c) : f32[2,3]\n%y = mul(%r, %s) : "
                  "f32[2,3]",
                  "%x: f32[2,3]", "%y, %c"),
            "'c' within it is read from outside");
}

}  // namespace
}  // namespace fold
