#include "compiler/lineage.h"

#include "compiler/ir/rewriter.h"
#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

// A name moves on to what stands for a value; keys stay.
TEST(Lineage, KeysAreTheNamesThatValuesWereMadeWith) {
  Graph graph = GraphOf(R"(fir 1 simplified
graph @g(%x: f32[2]) -> %y {
  %y = relu(%x) : f32[2] name "r" loc("r")
})");
  Rewriter rewriter(graph, &Ops());
  for (int round = 1; round <= 2; ++round) {
    Proposal proposal;
    proposal.removed = {graph.order()[0]};
    Node node = graph.node(graph.order()[0]);
    const ValueId old = graph.FindValue("y");
    node.results = {rewriter.Declare("y", graph.value(old).type)};
    proposal.added = {node};
    proposal.sheet.results = {{old, node.results[0]}};
    ASSERT_TRUE(rewriter.Apply(proposal)) << rewriter.refused()[0].reason;
  }
  const SheetSummary first = SummarizeSheet(graph, rewriter.applied()[0]);
  ASSERT_EQ(first.items.size(), 1u);
  EXPECT_EQ(first.items[0].kind, SheetItem::Kind::kResult);
  EXPECT_EQ(first.items[0].from, "y");
  EXPECT_EQ(first.items[0].to, "y.1");
  EXPECT_EQ(first.removed[0].name, "r");
  EXPECT_EQ(first.removed[0].kind, "relu");
  EXPECT_EQ(first.removed[0].operands, std::vector<std::string>{"x"});
  EXPECT_EQ(first.run_bytes_added, 8);
  const SheetSummary second = SummarizeSheet(graph, rewriter.applied()[1]);
  EXPECT_EQ(second.items[0].from, "y.1");
  EXPECT_EQ(second.items[0].to, "y.2");
  const GraphSummary summary = SummarizeGraph(graph);
  EXPECT_EQ(summary.outputs, std::vector<std::string>{"y.2"});
  EXPECT_EQ(summary.inputs, std::vector<std::string>{"x"});
  ASSERT_EQ(summary.nodes.size(), 1u);
  EXPECT_EQ(summary.nodes[0].sources, std::vector<std::string>{"r"});
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "y");
}

}  // namespace
}  // namespace fold
