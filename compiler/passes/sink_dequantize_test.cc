// What may pass behind what. What comes of it is in fold_qdq.fir.
#include "compiler/passes/sink_dequantize.h"

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

bool CanSink(const std::string& node) {
  const Graph graph = GraphOf(R"(fir 1 simplified
graph @g(%a: u8[2,3] q(s=0.5 z=3), %b: u8[2,3] q(s=0.25 z=3), %c: u8[2,3] q(s=[1,2] z=0 axis=0), %e: i8[2,3] q(s=0.5 z=3), %r: f32[2,3]) -> %y {
  %s = const f32[] [0.5]
  %z = const u8[] [3]
  %i = const i8[] [3]
  %t = const f32[] [0.25]
  %v = const f32[2] [1,2]
  %da = dequantize_linear(%a, %s, %z) : f32[2,3]
  %db = dequantize_linear(%b, %t, %z) : f32[2,3]
  %dc = dequantize_linear(%c, %v) {axis=0} : f32[2,3]
  %de = dequantize_linear(%e, %s, %i) : f32[2,3]
  %p = const i64[4] [0,1,0,0]
  %one = const f32[] [1]
  %zero = const f32[] [0]
)" + node + "\n}");
  return CanSinkDequantize(graph, graph.node(MakerOf(graph, "y")));
}

TEST(SinkDequantize, Movement) {
  EXPECT_TRUE(CanSink("%y = transpose(%da) : f32[3,2]"));
  EXPECT_TRUE(CanSink("%y = flatten(%da) {axis=0} : f32[1,6]"));
  EXPECT_FALSE(CanSink("%y = transpose(%r) : f32[3,2]"));
  EXPECT_FALSE(CanSink("%y = relu(%da) : f32[2,3]"));
}

// Of several scales only a Transpose knows where they go.
TEST(SinkDequantize, ScalesAlongAnAxis) {
  EXPECT_TRUE(CanSink("%y = transpose(%dc) : f32[3,2]"));
  EXPECT_FALSE(CanSink("%y = flatten(%dc) {axis=0} : f32[1,6]"));
}

TEST(SinkDequantize, ConcatOfOneQuantization) {
  EXPECT_TRUE(CanSink("%y = concat(%da, %da) {axis=0} : f32[4,3]"));
  EXPECT_FALSE(CanSink("%y = concat(%da, %db) {axis=0} : f32[4,3]"));
  EXPECT_FALSE(CanSink("%y = concat(%da, %r) {axis=0} : f32[4,3]"));
  // Equal scale and zero point, codes of another type.
  EXPECT_FALSE(CanSink("%y = concat(%da, %de) {axis=0} : f32[4,3]"));
}

TEST(SinkDequantize, PadWithZero) {
  EXPECT_TRUE(CanSink("%y = pad(%da, %p) : f32[2,4]"));
  EXPECT_TRUE(CanSink("%y = pad(%da, %p, %zero) : f32[2,4]"));
  EXPECT_FALSE(CanSink("%y = pad(%da, %p, %one) : f32[2,4]"));
  EXPECT_FALSE(CanSink("%y = pad(%da, %p) {value=1.0} : f32[2,4]"));
}

}  // namespace
}  // namespace fold
