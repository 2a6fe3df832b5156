#include "compiler/import/graph_checks.h"

#include <gtest/gtest.h>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

constexpr char kTwoNodes[] =
    "g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> {"
    " [first] t = Relu(x)"
    " [second] y = Add(t, w) }";

TEST(GraphChecks, Cycle) {
  auto model = ParseGraph(kTwoNodes);
  NodeNamed(&model, "first")->set_input(0, "y");
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "first", "cycle");
  NodeNamed(&model, "first")->set_input(0, "t");
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "first", "cycle");
}

TEST(GraphChecks, OutOfOrder) {
  auto model = ParseGraph(kTwoNodes);
  model.mutable_graph()->mutable_node()->SwapElements(0, 1);
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "second",
                "out of order");
}

TEST(GraphChecks, MissingOperand) {
  auto model = ParseGraph(kTwoNodes);
  NodeNamed(&model, "second")->set_input(1, "nowhere");
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "second",
                "'nowhere' is made by nobody");
}

TEST(GraphChecks, NamesOnce) {
  auto model = ParseGraph(kTwoNodes);
  NodeNamed(&model, "second")->set_output(0, "t");
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "second",
                "'t' is made twice");
  NodeNamed(&model, "second")->set_output(0, "x");
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "second");
  model = ParseGraph(kTwoNodes);
  *model.mutable_graph()->add_initializer() = model.graph().initializer(0);
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "w",
                "two initializers");
  model = ParseGraph(kTwoNodes);
  *model.mutable_graph()->add_input() = model.graph().input(0);
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "x",
                "two inputs");
}

TEST(GraphChecks, NamesAndResultsMustBeThere) {
  auto model = ParseGraph(kTwoNodes);
  model.mutable_graph()->mutable_initializer(0)->clear_name();
  ExpectRefused(Import(model), DiagnosticCode::model_invalid,
                "graph.initializer");
  model = ParseGraph(kTwoNodes);
  model.mutable_graph()->mutable_input(0)->clear_name();
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "graph.input");
  model = ParseGraph(kTwoNodes);
  NodeNamed(&model, "first")->clear_output();
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "first",
                "no result");
  model = ParseGraph(kTwoNodes);
  NodeNamed(&model, "first")->clear_op_type();
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "first");
}

TEST(GraphChecks, Outputs) {
  auto model = ParseGraph(kTwoNodes);
  model.mutable_graph()->mutable_output(0)->set_name("z");
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "z",
                "nobody makes");
  model.mutable_graph()->clear_output();
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "graph.output");
}

TEST(GraphChecks, HostileDimensions) {
  const auto with_dims = [](const std::vector<int64_t>& dims) {
    auto model = ParseGraph(kTwoNodes);
    auto* shape = model.mutable_graph()
                      ->mutable_input(0)
                      ->mutable_type()
                      ->mutable_tensor_type()
                      ->mutable_shape();
    shape->clear_dim();
    for (int64_t dim : dims) shape->add_dim()->set_dim_value(dim);
    return Import(model);
  };
  ExpectRefused(with_dims({-4}), DiagnosticCode::model_invalid, "x",
                "negative");
  ExpectRefused(with_dims({INT64_MIN}), DiagnosticCode::model_invalid, "x");
  ExpectRefused(with_dims({INT64_MAX, 4}), DiagnosticCode::model_too_large, "x",
                "overflows");
  ExpectRefused(with_dims({int64_t{1} << 40}), DiagnosticCode::model_too_large,
                "x", "limit");
  ExpectRefused(with_dims(std::vector<int64_t>(65, 1)),
                DiagnosticCode::model_too_large, "x", "rank 65");
}

TEST(GraphChecks, InitializerSizes) {
  auto model = ParseGraph(kTwoNodes);
  auto* w = model.mutable_graph()->mutable_initializer(0);
  w->set_dims(0, int64_t{1} << 29);
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "w",
                "are needed");
  w->set_dims(0, -4);
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "w", "negative");
  w->set_dims(0, INT64_MAX);
  ExpectRefused(Import(model), DiagnosticCode::model_too_large, "w");
  ImportOptions options;
  options.limits.max_constant_bytes = 15;
  ExpectRefused(Import(ParseGraph(kTwoNodes), options),
                DiagnosticCode::model_too_large, "w", "15 bytes");
}

TEST(GraphChecks, Types) {
  auto model = ParseGraph(kTwoNodes);
  auto* type = model.mutable_graph()->mutable_input(0)->mutable_type();
  const auto float_type = *type;
  *type->mutable_sequence_type()->mutable_elem_type() = float_type;
  ExpectRefused(Import(model), DiagnosticCode::unsupported_type, "x",
                "sequence");
  type->Clear();
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "x", "no type");
  *type = float_type;
  type->mutable_tensor_type()->set_elem_type(onnx::TensorProto::STRING);
  ExpectRefused(Import(model), DiagnosticCode::unsupported_type, "x", "string");
  model = ParseGraph(kTwoNodes);
  model.mutable_graph()->mutable_initializer(0)->set_data_type(
      onnx::TensorProto::FLOAT8E5M2);
  ExpectRefused(Import(model), DiagnosticCode::unsupported_type, "w",
                "float8e5m2");
  model = ParseGraph(kTwoNodes);
  model.mutable_graph()->add_sparse_initializer()->mutable_values()->set_name(
      "s");
  ExpectRefused(Import(model), DiagnosticCode::unsupported_type, "s", "sparse");
}

TEST(GraphChecks, InputsThatAreInitializersAreConstants) {
  for (int64_t ir_version : {3, 8}) {
    auto model = ParseGraph(kTwoNodes);
    model.set_ir_version(ir_version);
    auto* input = model.mutable_graph()->add_input();
    *input = model.graph().input(0);
    input->set_name("w");
    const Imported result = Import(model);
    ASSERT_TRUE(result.good) << result.Text();
    EXPECT_EQ(result.graph.inputs.size(), 1u);
    EXPECT_TRUE(result.graph.IsConstant(result.graph.FindValue("w")));
    input->mutable_type()->mutable_tensor_type()->set_elem_type(
        onnx::TensorProto::INT8);
    ExpectRefused(Import(model), DiagnosticCode::model_invalid, "w",
                  "initializer of the same name");
  }
}

}  // namespace
}  // namespace fold::importer
