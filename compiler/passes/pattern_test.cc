#include "compiler/passes/pattern.h"

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

using Numbers = std::vector<double>;

std::optional<Numbers> Vector(const Shape& constant, const Shape& shape,
                              int64_t axis) {
  Numbers numbers(ElementCount(constant));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = i + 1;
  const TensorPtr tensor = MakeRealTensor(ElementType::f32, constant, numbers);
  return AsChannelVector(*tensor, shape, axis);
}

TEST(Pattern, ChannelVectors) {
  const Shape image = {2, 3, 4, 3};
  EXPECT_EQ(Vector({}, image, 1), Numbers{1});
  EXPECT_EQ(Vector({1, 1, 1}, image, 1), Numbers{1});
  EXPECT_EQ(Vector({3, 1, 1}, image, 1), (Numbers{1, 2, 3}));
  EXPECT_EQ(Vector({1, 3, 1, 1}, image, 1), (Numbers{1, 2, 3}));
  EXPECT_EQ(Vector({3}, image, 3), (Numbers{1, 2, 3}));
  // Three numbers along another dimension of three.
  EXPECT_EQ(Vector({3}, image, 1), std::nullopt);
  EXPECT_EQ(Vector({3, 1, 1}, image, 3), std::nullopt);
  EXPECT_EQ(Vector({3, 4, 1}, image, 1), std::nullopt);
  EXPECT_EQ(Vector({1, 2, 3, 4, 3}, image, 1), std::nullopt);
  // Broadcasting would make the result larger.
  EXPECT_EQ(Vector({2, 1}, {1, 1}, 0), std::nullopt);
}

TEST(Pattern, ChannelAxes) {
  Node node;
  node.op = ToId(Op::kConv);
  EXPECT_EQ(ChannelAxis(node, {1, 2, 3, 4}), 1);
  EXPECT_EQ(ChannelAxis(node, {3}), 0);
  node.op = ToId(Op::kGemm);
  EXPECT_EQ(ChannelAxis(node, {1, 2}), 1);
  node.op = ToId(Op::kMatMul);
  EXPECT_EQ(ChannelAxis(node, {1, 2, 3}), 2);
  EXPECT_EQ(ChannelAxis(node, {3}), 0);
}

TEST(Pattern, ProducersAndKinds) {
  const Graph graph = GraphOf(R"(fir 1 folded
graph @g(%x: u8[1,2] q(s=0.5 z=128), %r: f32[1,2], %u: u8[1,2]) -> (%y, %z, %v) {
  %w = const i8[2,1] q(s=1 z=0) [1,2]
  %y = matmul(%x, %w) : f32[1,1]
  %z = relu(%r) : f32[1,2]
  %v = add(%u, %u) : u8[1,2]
})");
  const auto id = [&](const char* name) { return graph.FindValue(name); };
  EXPECT_EQ(ProducerOf(graph, id("x")), nullptr);
  EXPECT_EQ(ProducerOf(graph, id("w")), nullptr);
  EXPECT_EQ(ProducerOf(graph, ValueId()), nullptr);
  EXPECT_NE(ProducerOf(graph, id("y"), Op::kMatMul), nullptr);
  EXPECT_EQ(ProducerOf(graph, id("y"), Op::kGemm), nullptr);
  EXPECT_TRUE(IsIntegerOp(graph, *ProducerOf(graph, id("y"))));
  // Relu takes no steps; integers without a quantization stand for nothing.
  EXPECT_FALSE(IsIntegerOp(graph, *ProducerOf(graph, id("z"))));
  EXPECT_FALSE(IsIntegerOp(graph, *ProducerOf(graph, id("v"))));
  EXPECT_TRUE(IsReal(graph.value(id("r")).type));
  EXPECT_FALSE(IsReal(graph.value(id("x")).type));
  EXPECT_EQ(OperandAt(*ProducerOf(graph, id("y")), 1), id("w"));
  EXPECT_FALSE(OperandAt(*ProducerOf(graph, id("y")), 2).valid());
}

TEST(Pattern, MoversAndStepTakersAreDifferentThings) {
  for (Op op : {Op::kReshape, Op::kFlatten, Op::kSqueeze, Op::kUnsqueeze,
                Op::kTranspose, Op::kMaxPool}) {
    EXPECT_TRUE(MovesElements(op));
    EXPECT_FALSE(TakesSteps(op));
  }
  for (Op op : {Op::kConv, Op::kGemm, Op::kMatMul, Op::kAdd, Op::kSub, Op::kMul,
                Op::kAveragePool, Op::kGlobalAveragePool, Op::kReduceMean,
                Op::kRequantize}) {
    EXPECT_TRUE(TakesSteps(op));
    EXPECT_FALSE(MovesElements(op));
  }
  EXPECT_FALSE(MovesElements(Op::kPad));
  EXPECT_FALSE(TakesSteps(Op::kSoftmax));
}

}  // namespace
}  // namespace fold
