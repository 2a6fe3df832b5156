#include "compiler/import/branch_conditions.h"

#include <gtest/gtest.h>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

// The conditions over the nodes of a graph; counts the inferences asked for.
struct Conditions {
  explicit Conditions(const std::string& graph,
                      const TypeFinder& with = nullptr)
      : model(ParseGraph(graph)),
        find([this, with](onnx::ModelProto* part, ValueTypes* types,
                          Diagnostics* faults) {
          asked_nodes.push_back(part->graph().node_size());
          return with && with(part, types, faults);
        }),
        conditions(ImportLimits(), find, model) {
    for (const auto& node : model.graph().node()) conditions.AddNode(node);
  }

  // The number, or nullopt.
  std::optional<int64_t> Value(const std::string& name) {
    const TensorPtr value = conditions.ValueOf(name, &sink);
    if (value == nullptr) return std::nullopt;
    return value->integer(0);
  }

  onnx::ModelProto model;
  std::vector<int> asked_nodes;
  TypeFinder find;
  BranchConditions conditions;
  Diagnostics sink;
};

// Says that every value is f32[3].
bool AllThree(onnx::ModelProto* part, ValueTypes* types, Diagnostics*) {
  for (const auto& node : part->graph().node()) {
    (*types)[node.output(0)] = {ElementType::f32, {3}, std::nullopt};
  }
  return true;
}

TEST(BranchConditions, FollowConstants) {
  Conditions c(
      "g (float[4] x) => (float[4] y) <int64 two = {2}, bool no = {0}> {"
      " a = Identity(two) b = Constant <value_int = 2> () e = Equal(a, b)"
      " n = Not(no) y = Relu(x) }");
  EXPECT_EQ(c.Value("no"), 0);
  EXPECT_EQ(c.Value("e"), 1);
  EXPECT_EQ(c.Value("n"), 1);
  EXPECT_EQ(c.Value("y"), std::nullopt);
  EXPECT_EQ(c.Value("x"), std::nullopt);
  EXPECT_EQ(c.Value("nobody"), std::nullopt);
  EXPECT_TRUE(c.asked_nodes.empty());
}

TEST(BranchConditions, ShapesOfInputsNeedNoInference) {
  Conditions c(
      "g (float[4,1] x) => (float y) <float[7] w = {1, 2, 3, 4, 5, 6, 7},"
      " int64 one = {1}> { s = Shape(x) d = Gather(s, one) e = Equal(d, one)"
      " t = Size(w) y = Relu(x) }");
  EXPECT_EQ(c.Value("e"), 1);
  EXPECT_EQ(c.Value("t"), 7);
  EXPECT_TRUE(c.asked_nodes.empty());
}

// Asked once for each value, and only what leads to it.
TEST(BranchConditions, OtherShapesAreInferredOnce) {
  Conditions c(
      "g (float[4] x) => (float y) {"
      " other = Relu(x) a = Relu(x) b = Relu(a) s = Size(b)"
      " c = Relu(b) d = Relu(c) t = Size(d) y = Relu(other) }",
      AllThree);
  EXPECT_EQ(c.Value("s"), 3);
  EXPECT_EQ(c.Value("s"), 3);
  EXPECT_EQ(c.Value("t"), 3);
  EXPECT_EQ(c.asked_nodes, (std::vector<int>{2, 2}));
}

TEST(BranchConditions, OpenShapesAreSaid) {
  const auto open = [](onnx::ModelProto*, ValueTypes*, Diagnostics* faults) {
    faults->Add(DiagnosticCode::model_invalid, "m", "unsaid");
    return faults->Add(DiagnosticCode::dynamic_shape, "x", "open");
  };
  Conditions c("g (float[n] x) => (float y) { s = Size(x) y = Relu(x) }", open);
  EXPECT_EQ(c.Value("s"), std::nullopt);
  ASSERT_EQ(c.sink.all().size(), 1u);
  EXPECT_EQ(c.sink.all()[0].code, DiagnosticCode::dynamic_shape);
}

// A long chain costs no stack.
TEST(BranchConditions, LongChains) {
  constexpr int kLength = 50'000;
  auto model = ParseGraph("g (float x) => (float y) <bool a0 = {1}> { }");
  for (int i = 0; i < kLength; ++i) {
    auto* node = model.mutable_graph()->add_node();
    node->set_op_type("Not");
    node->add_input("a" + std::to_string(i));
    node->add_output("a" + std::to_string(i + 1));
  }
  const TypeFinder none;
  BranchConditions conditions(ImportLimits(), none, model);
  for (const auto& node : model.graph().node()) conditions.AddNode(node);
  Diagnostics sink;
  const TensorPtr value =
      conditions.ValueOf("a" + std::to_string(kLength), &sink);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->integer(0), 1);
}

}  // namespace
}  // namespace fold::importer
