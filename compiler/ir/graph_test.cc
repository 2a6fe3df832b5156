#include "compiler/ir/graph.h"

#include "gtest/gtest.h"

namespace fold {
namespace {

TensorType F32() { return {ElementType::f32, {2}, std::nullopt}; }

Node Make(std::vector<ValueId> operands, std::vector<ValueId> results) {
  Node node;
  node.operands = std::move(operands);
  node.results = std::move(results);
  return node;
}

struct Chain {
  Graph graph;
  ValueId x, y, z;
  NodeId first, second;
  Chain() {
    x = graph.AddValue("x", F32());
    y = graph.AddValue("y", F32());
    z = graph.AddValue("z", F32());
    graph.inputs = {x};
    first = graph.AddNode(Make({x}, {y}));
    second = graph.AddNode(Make({y}, {z}));
    graph.outputs = {z};
    graph.output_names = {"z"};
  }
};

TEST(Graph, NamesAreMadeUnique) {
  Graph graph;
  const ValueId a = graph.AddValue("v", F32());
  const ValueId b = graph.AddValue("v", F32());
  EXPECT_NE(graph.value(a).name, graph.value(b).name);
  EXPECT_EQ(graph.FindValue("v"), a);
  graph.SwapNames(a, b);
  EXPECT_EQ(graph.FindValue("v"), b);
}

TEST(Graph, UsesCountOperandPlacesAndOutputs) {
  Chain c;
  EXPECT_TRUE(c.graph.HasSingleUse(c.y));
  EXPECT_FALSE(c.graph.HasSingleUse(c.z));  // an output
  c.graph.SetOperands(c.second, {c.y, c.y});
  EXPECT_FALSE(c.graph.HasSingleUse(c.y));
  EXPECT_EQ(c.graph.UsersOf(c.y).size(), 1u);
}

TEST(Graph, ReplaceUsesMovesReadersAndOutputs) {
  Chain c;
  c.graph.SetOperands(c.second, {c.y, c.y});
  c.graph.ReplaceUses(c.y, c.x);
  EXPECT_TRUE(c.graph.UsersOf(c.y).empty());
  EXPECT_EQ(c.graph.UsersOf(c.x), (std::vector<NodeId>{c.first, c.second}));
  c.graph.ReplaceUses(c.z, c.x);
  EXPECT_TRUE(c.graph.IsOutput(c.x));
}

TEST(Graph, ManyInsertionsAtOnePlaceKeepTheOrder) {
  Chain c;
  NodeId before = c.second;
  for (int i = 0; i < 100; ++i) {  // more than the labels have room for
    const NodeId id =
        c.graph.InsertNode(Make({c.x}, {c.graph.AddValue("t", F32())}), before);
    EXPECT_TRUE(c.graph.Precedes(id, before));
    EXPECT_TRUE(c.graph.Precedes(c.first, id));
    before = id;
  }
  EXPECT_EQ(c.graph.node_count(), 102u);
  EXPECT_EQ(c.graph.order()[1], before);
  c.graph.EraseNode(before);
  EXPECT_EQ(c.graph.order().size(), 101u);
}

TEST(CheckStructure, FindsWhatIsBroken) {
  EXPECT_EQ(CheckStructure(Chain().graph), "");
  Chain late;
  late.graph.SetOperands(late.first, {late.z});
  EXPECT_NE(CheckStructure(late.graph).find("before it is made"),
            std::string::npos);
  Chain twice;
  twice.graph.mutable_node(twice.second).results = {twice.y};
  EXPECT_NE(CheckStructure(twice.graph), "");
  Chain missing;
  missing.graph.outputs = {missing.graph.AddValue("w", F32())};
  EXPECT_NE(CheckStructure(missing.graph).find("never made"),
            std::string::npos);
}

TEST(Graph, SortNodesKeepsWhatOrderItCanAndFindsCycles) {
  Chain c;
  const ValueId w = c.graph.AddValue("w", F32());
  const NodeId third = c.graph.AddNode(Make({c.x}, {w}));
  c.graph.SetOperands(c.first, {w});
  ASSERT_TRUE(c.graph.SortNodes());
  EXPECT_EQ(c.graph.order(), (std::vector<NodeId>{third, c.first, c.second}));
  c.graph.SetOperands(third, {c.z});
  EXPECT_FALSE(c.graph.SortNodes());
}

}  // namespace
}  // namespace fold
