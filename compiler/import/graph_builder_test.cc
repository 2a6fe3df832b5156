#include "compiler/import/graph_builder.h"

#include <gtest/gtest.h>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

TEST(GraphBuilder, AbsentOperandsAreInvalid) {
  const Imported result =
      Import(ParseGraph("g (float[4] x) => (float[4] y) <float six = {6.0}> {"
                        " [high] t = Clip(x, , six)"
                        " [none] y = Clip(t, , ) }"));
  ASSERT_TRUE(result.good) << result.Text();
  ASSERT_EQ(result.node(0).operands.size(), 3u);
  EXPECT_FALSE(result.node(0).operands[1].valid());
  EXPECT_EQ(result.node(0).operands[2], result.graph.FindValue("six"));
  EXPECT_EQ(result.node(1).operands.size(), 1u);
}

TEST(GraphBuilder, OutputsThatNoNodeMakes) {
  const Imported result = Import(ParseGraph(
      "g (float[4] x) => (float[4] x, float[2] w, int8[1] c, float[4] y,"
      " float[4] x) <float[2] w = {1, 2}> {"
      " c = Constant <value = int8[1] {3}> ()"
      " y = Relu(x) }"));
  ASSERT_TRUE(result.good) << result.Text();
  const Graph& graph = result.graph;
  EXPECT_EQ(graph.output_names,
            (std::vector<std::string>{"x", "w", "c", "y", "x"}));
  EXPECT_EQ(graph.outputs[0], graph.inputs[0]);
  EXPECT_TRUE(graph.IsConstant(graph.outputs[1]));
  EXPECT_TRUE(graph.value(graph.outputs[2]).producer.valid());
  EXPECT_EQ(graph.outputs[4], graph.outputs[0]);
}

TEST(GraphBuilder, UnusedThingsStay) {
  const Imported result = Import(ParseGraph(
      "g (float[4] x, float[1] idle) => (float[4] y) <float[1] w = {1}> {"
      " [n] y = Relu(x) [dead] t = Relu(y) }"));
  ASSERT_TRUE(result.good) << result.Text();
  EXPECT_EQ(result.graph.inputs.size(), 2u);
  EXPECT_EQ(result.graph.node_count(), 2u);
  EXPECT_TRUE(result.graph.IsConstant(result.graph.FindValue("w")));
}

TEST(GraphBuilder, ProvenanceIsUnique) {
  const Imported result =
      Import(ParseGraph("g (float[4] x) => (float[4] y) {"
                        " [n] t = Relu(x) [n] u = Relu(t) y = Relu(u) }"));
  ASSERT_TRUE(result.good) << result.Text();
  const auto provenance = [&](size_t i) {
    return result.node(i).provenance.nodes.at(0);
  };
  EXPECT_EQ(provenance(0), "n");
  EXPECT_EQ(provenance(1), "Relu->u");
  EXPECT_EQ(provenance(2), "Relu->y");
  EXPECT_EQ(result.node(1).name, "n");
}

TEST(GraphBuilder, NumbersOutsideTheirType) {
  auto model = ParseGraph("g (int8[1] x) => (int8[1] x) <int8[1] w = {1}> { }");
  auto* w = model.mutable_graph()->mutable_initializer(0);
  w->clear_raw_data();
  w->clear_int32_data();
  w->add_int32_data(300);
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "w", "i8");
}

}  // namespace
}  // namespace fold::importer
