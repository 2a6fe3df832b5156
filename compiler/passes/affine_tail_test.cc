#include "compiler/passes/affine_tail.h"

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

// `tail` behind a convolution's result %c of f32[1,2,2].
Graph Behind(const std::string& tail, const std::string& outputs = "%y") {
  return GraphOf(
      "fir 1 annotated\ngraph @g(%x: f32[1,1,4], %r: f32[1,2,2], "
      "%i: i8[1,2,2]) -> " +
      outputs +
      " {\n"
      "%w = const f32[2,1,3] splat(1)\n"
      "%c = conv(%x, %w) : f32[1,2,2] name \"conv\"\n"
      "%one = const f32[] [2]\n"
      "%channels = const f32[2,1] [2,3]\n"
      "%columns = const f32[2] [2,3]\n"
      "%whole = const f32[1,2,2] [1,2,3,4]\n"
      "%larger = const f32[3,1,1] [1,2,3]\n" +
      tail + "\n}");
}

Tail KindOf(const std::string& tail) {
  const Graph graph = Behind(tail);
  return TailKind(graph, graph.node(MakerOf(graph, "y")));
}

TEST(AffineTail, Kinds) {
  EXPECT_EQ(KindOf("%y = relu(%c) : f32[1,2,2]"), Tail::kActivation);
  EXPECT_EQ(KindOf("%y = clip(%c, _, %one) : f32[1,2,2]"), Tail::kActivation);
  EXPECT_EQ(KindOf("%y = mul(%c, %one) : f32[1,2,2]"), Tail::kScale);
  EXPECT_EQ(KindOf("%y = add(%channels, %c) : f32[1,2,2]"), Tail::kScale);
  EXPECT_EQ(KindOf("%y = div(%c, %channels) : f32[1,2,2]"), Tail::kScale);
  EXPECT_EQ(KindOf("%y = batch_normalization(%c, %columns, %columns, %columns, "
                   "%columns) : f32[1,2,2]"),
            Tail::kBatchNorm);
}

TEST(AffineTail, WhatIsNone) {
  for (const char* tail :
       {"%y = softmax(%c) : f32[1,2,2]",
        "%y = clip(%c, %r) : f32[1,2,2]",        // a computed bound
        "%y = add(%c, %r) : f32[1,2,2]",         // two values
        "%y = add(%one, %channels) : f32[2,1]",  // none
        "%y = div(%one, %c) : f32[1,2,2]",       // no scale of c
        "%y = mul(%c, %columns) : f32[1,2,2]",   // along another dimension
        "%y = mul(%c, %whole) : f32[1,2,2]",     // along two
        "%y = mul(%c, %larger) : f32[3,2,2]",    // a larger result
        "%y = relu(%i) : i8[1,2,2]",             // not real
        ("%y = batch_normalization(%c, %columns, %columns, %columns, %r) : "
         "f32[1,2,2]")}) {
    EXPECT_EQ(KindOf(tail), Tail::kNone) << tail;
  }
}

// Constants by channel fit an op that has channels, not a sum or a pool.
TEST(AffineTail, ChannelConstantsNeedChannels) {
  for (const char* head :
       {"%h = average_pool(%r) {kernel_shape=[1]} : f32[1,2,2]",
        "%h = add(%r, %r) : f32[1,2,2]"}) {
    EXPECT_EQ(
        KindOf(std::string(head) + "\n%y = mul(%h, %channels) : f32[1,2,2]"),
        Tail::kNone)
        << head;
    EXPECT_EQ(KindOf(std::string(head) + "\n%y = mul(%h, %one) : f32[1,2,2]"),
              Tail::kScale)
        << head;
    // Steps in between do not hide what the head is.
    EXPECT_EQ(
        KindOf(std::string(head) + "\n%k = relu(%h) : f32[1,2,2]\n"
                                   "%y = mul(%k, %channels) : f32[1,2,2]"),
        Tail::kNone)
        << head;
  }
}

TEST(AffineTail, AbsorbsInOrder) {
  Graph graph = Behind(
      "%m = mul(%channels, %c) : f32[1,2,2] name \"mul\" loc(\"mul\")\n"
      "%y = sub(%m, %one) : f32[1,2,2] name \"sub\" loc(\"sub\")");
  Rewriter rewriter(graph);
  ASSERT_TRUE(AbsorbTail(rewriter, MakerOf(graph, "m"), "rule"));
  ASSERT_TRUE(AbsorbTail(rewriter, MakerOf(graph, "y"), "rule"));
  const Node& conv = graph.node(MakerOf(graph, "y"));
  EXPECT_EQ(OpOf(conv), Op::kConv);
  ASSERT_EQ(conv.steps.size(), 2u);
  EXPECT_EQ(conv.steps[0].kind, Step::Kind::kMultiply);
  EXPECT_EQ(conv.steps[1].kind, Step::Kind::kAdd);
  const auto constant = [&](const Step& step) {
    return graph.value(conv.operands[step.operands[0]]).constant;
  };
  EXPECT_EQ(constant(conv.steps[0])->shape, Shape{2});
  EXPECT_EQ(constant(conv.steps[0])->real(1), 3);
  EXPECT_EQ(constant(conv.steps[1])->real(0), -2);  // - 2 is + -2
  EXPECT_EQ(conv.provenance.nodes, (std::vector<std::string>{"mul", "sub"}));
  // The steps' constants stand behind the place of the bias.
  EXPECT_FALSE(conv.operands[2].valid());
  EXPECT_EQ(rewriter.applied().size(), 2u);
}

TEST(AffineTail, OtherUsersRefuse) {
  Graph graph = Behind("%y = relu(%c) : f32[1,2,2] name \"relu\"", "(%c, %y)");
  Rewriter rewriter(graph);
  EXPECT_FALSE(AbsorbTail(rewriter, MakerOf(graph, "y"), "rule"));
  ASSERT_EQ(rewriter.refused().size(), 1u);
  EXPECT_EQ(rewriter.refused()[0].node, "relu");
  EXPECT_EQ(rewriter.refused()[0].reason,
            "the value before it, 'c', has other users");
  EXPECT_EQ(graph.node_count(), 2u);
}

}  // namespace
}  // namespace fold
