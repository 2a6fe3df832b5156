#include "compiler/import/inference.h"

#include <gtest/gtest.h>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

TEST(Inference, CheckerNamesTheNode) {
  ExpectRefused(Import(ParseGraph("g (float[4] x) => (float[4] y) {"
                                  " [extra] y = Relu(x, x) }")),
                DiagnosticCode::model_invalid, "extra");
  ExpectRefused(Import(ParseGraph("g (float[4] x) => (float[4] y) {"
                                  " [odd] y = Relu <alpha = 1> (x) }")),
                DiagnosticCode::model_invalid, "odd", "alpha");
}

TEST(Inference, MessagesHaveNoSourcePath) {
  const Imported result = Import(ParseGraph(
      "g (float[2] x, float[3] w) => (float[3] y) { [add] y = Add(x, w) }"));
  ExpectRefused(result, DiagnosticCode::model_invalid, "add",
                "Incompatible dimensions");
  EXPECT_EQ(result.Text().find(".cc"), std::string::npos) << result.Text();
}

TEST(Inference, ElementTypesAreChecked) {
  ExpectRefused(Import(ParseGraph("g (float[2] x, int8[2] w) => (float[2] y) {"
                                  " [add] y = Add(x, w) }")),
                DiagnosticCode::model_invalid, "add");
}

TEST(Inference, DeclaredTypesAreHeldToTheInferred) {
  ExpectRefused(Import(ParseGraph("g (float[2] x) => (float[3] y) {"
                                  " [r] y = Relu(x) }")),
                DiagnosticCode::shape_mismatch, "y", "it is [2]");
  ExpectRefused(Import(ParseGraph("g (float[2] x) => (int8[2] y) {"
                                  " [r] y = Relu(x) }")),
                DiagnosticCode::model_invalid, "y", "int8");
  auto model = ParseGraph(
      "g (float[2] x) => (float[n] y) {"
      " [r] t = Relu(x) [s] y = Relu(t) }");
  EXPECT_TRUE(Import(model).good);
  auto* info = model.mutable_graph()->add_value_info();
  *info = model.graph().output(0);
  info->set_name("t");
  EXPECT_TRUE(Import(model).good);
  auto* dims = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  dims->mutable_dim(0)->set_dim_value(3);
  ExpectRefused(Import(model), DiagnosticCode::shape_mismatch, "t",
                "declares shape [3]");
}

// The shape of t depends on the values of an input; the file may declare it.
constexpr char kUnknown[] =
    "g (float[6] x, int64[2] dims) => (float[a,b] y) {"
    " [r] t = Reshape(x, dims) [s] y = Relu(t) }";

TEST(Inference, UnknownShapesAreNamed) {
  ExpectRefused(Import(ParseGraph(kUnknown)), DiagnosticCode::dynamic_shape,
                "t", "--shape");
}

TEST(Inference, DeclaredShapesFillGaps) {
  auto model = ParseGraph(kUnknown);
  auto* info = model.mutable_graph()->add_value_info();
  *info = model.graph().output(0);
  info->set_name("t");
  auto* dims = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  dims->mutable_dim(0)->set_dim_value(2);
  dims->mutable_dim(1)->set_dim_value(3);
  const Imported result = Import(model);
  ASSERT_TRUE(result.good) << result.Text();
  EXPECT_EQ(result.graph.value(result.graph.FindValue("y")).type.shape,
            (Shape{2, 3}));
}

// Old operator sets find a shape that is computed from shapes as well.
TEST(Inference, ShapesFromShapesInEveryOperatorSet) {
  for (int version : {9, 11, 12}) {
    const Imported result = Import(ParseGraph(R"(
g (float[2,3,4] x) => (float[2,12] y)
<int64 zero = {0}, int64[1] rest = {-1}>
{
  s = Shape(x)
  d = Gather <axis = 0> (s, zero)
  u = Unsqueeze <axes = [0]> (d)
  t = Concat <axis = 0> (u, rest)
  y = Reshape(x, t)
})",
                                              version));
    ASSERT_TRUE(result.good) << version << result.Text();
    const Graph& graph = result.graph;
    EXPECT_EQ(graph.value(graph.outputs[0]).type.shape, (Shape{2, 12}));
  }
}

TEST(Inference, InferredSizesAreBounded) {
  ExpectRefused(
      Import(ParseGraph("g (float[1] x) => (float[1] x)"
                        " <int64[2] dims = {4294967296, 4294967296}> {"
                        " [c] t = ConstantOfShape(dims) }")),
      DiagnosticCode::model_too_large, "t");
  ExpectRefused(Import(ParseGraph("g (float[1] x) => (float[1] x)"
                                  " <int64[1] dims = {-5}> {"
                                  " [c] t = ConstantOfShape(dims) }")),
                DiagnosticCode::model_invalid, "c");
}

TEST(Inference, TypesOutsideTheGraph) {
  ExpectRefused(Import(ParseGraph("g (float[1] x) => (float[1] x) {"
                                  " [c] t = Cast <to = 8> (x) }")),
                DiagnosticCode::unsupported_type, "t", "string");
}

}  // namespace
}  // namespace fold::importer
