#include "compiler/import/shape_binding.h"

#include <gtest/gtest.h>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

constexpr char kTwoInputs[] =
    "g (float[n,3,h] x, float[n,3,4] y) => (float[n,3,4] z)"
    "{ [add] z = Add(x, y) }";

Imported Bind(const std::string& graph,
              decltype(ImportOptions::shapes) shapes) {
  ImportOptions options;
  options.shapes = std::move(shapes);
  return Import(ParseGraph(graph), options);
}

Shape ShapeOf(const Imported& result, const char* name) {
  EXPECT_TRUE(result.good) << result.Text();
  return result.graph.value(result.graph.FindValue(name)).type.shape;
}

TEST(ShapeBinding, NamesAreBoundTogether) {
  const Imported result = Bind(kTwoInputs, {{"x", {2, 3, 4}}});
  EXPECT_EQ(ShapeOf(result, "x"), (Shape{2, 3, 4}));
  EXPECT_EQ(ShapeOf(result, "y"), (Shape{2, 3, 4}));
  EXPECT_EQ(ShapeOf(result, "z"), (Shape{2, 3, 4}));
}

TEST(ShapeBinding, OpenInputsAreNamed) {
  const Imported result = Bind(kTwoInputs, {});
  ExpectRefused(result, DiagnosticCode::dynamic_shape, "x", "--shape x=");
  ASSERT_EQ(result.sink.all().size(), 2u);
  EXPECT_EQ(result.sink.all()[1].node, "y");
  ExpectRefused(Bind(kTwoInputs, {{"y", {2, 3, 4}}}),
                DiagnosticCode::dynamic_shape, "x", "[2,3,h]");
}

TEST(ShapeBinding, BadFlags) {
  constexpr auto kBad = DiagnosticCode::bad_shape_flag;
  ExpectRefused(Bind(kTwoInputs, {{"w", {1}}}), kBad, "w", "it has x, y");
  ExpectRefused(Bind(kTwoInputs, {{"x", {2, 3}}}), kBad, "x", "[n,3,h]");
  ExpectRefused(Bind(kTwoInputs, {{"x", {2, 5, 4}}}), kBad, "x",
                "the model fixes it to 3");
  ExpectRefused(Bind(kTwoInputs, {{"x", {0, 3, 4}}}), kBad, "x", "positive");
  ExpectRefused(Bind(kTwoInputs, {{"x", {-1, 3, 4}}}), kBad, "x", "positive");
  ExpectRefused(Bind(kTwoInputs, {{"x", {2, 3, 4}}, {"y", {1, 3, 4}}}), kBad,
                "y", "bound to 2 and 1");
  ExpectRefused(Bind(kTwoInputs, {{"x", {2, 3, 4}}, {"x", {2, 3, 4}}}), kBad,
                "x", "twice");
  ExpectRefused(Bind("g (float[n] x) => (float[n] y) { y = Relu(x) }",
                     {{"x", {int64_t{1} << 62}}}),
                DiagnosticCode::model_too_large, "x");
}

TEST(ShapeBinding, OneNameTwiceInOneInput) {
  constexpr char kSquare[] =
      "g (float[n,n] x) => (float[n,n] y) { y = Relu(x) }";
  EXPECT_EQ(ShapeOf(Bind(kSquare, {{"x", {3, 3}}}), "y"), (Shape{3, 3}));
  ExpectRefused(Bind(kSquare, {{"x", {3, 4}}}), DiagnosticCode::bad_shape_flag,
                "x", "3 and 4");
}

TEST(ShapeBinding, InputWithoutShape) {
  auto model = ParseGraph("g (float[1] x) => (float[n] y) { y = Relu(x) }");
  model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->clear_shape();
  ExpectRefused(Import(model), DiagnosticCode::dynamic_shape, "x", "no shape");
  ImportOptions options;
  options.shapes = {{"x", {7}}};
  EXPECT_EQ(ShapeOf(Import(model, options), "y"), Shape{7});
}

TEST(ShapeBinding, AScalarHasAShape) {
  constexpr char kScalar[] = "g (float x) => (float y) { y = Relu(x) }";
  EXPECT_EQ(ShapeOf(Bind(kScalar, {}), "y"), Shape{});
  EXPECT_EQ(ShapeOf(Bind(kScalar, {{"x", {}}}), "y"), Shape{});
  ExpectRefused(Bind(kScalar, {{"x", {1}}}), DiagnosticCode::bad_shape_flag,
                "x");
}

}  // namespace
}  // namespace fold::importer
