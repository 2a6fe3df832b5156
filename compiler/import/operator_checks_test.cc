#include "compiler/import/operator_checks.h"

#include <gtest/gtest.h>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

TEST(OperatorChecks, AllUnsupportedNodesAreReported) {
  const Imported result =
      Import(ParseGraph("g (float[4] x) => (float[4] y) {"
                        " [a] t = Celu(x)"
                        " [b] u = Relu(t)"
                        " [c] v = com.microsoft.Gelu(u)"
                        " y = Bogus(v) }"));
  EXPECT_FALSE(result.good);
  ASSERT_EQ(result.sink.all().size(), 3u) << result.Text();
  const std::pair<const char*, const char*> expected[] = {
      {"a", "Celu"}, {"c", "com.microsoft.Gelu"}, {"Bogus->y", "Bogus"}};
  for (size_t i = 0; i < 3; ++i) {
    const Diagnostic& diagnostic = result.sink.all()[i];
    EXPECT_EQ(diagnostic.code, DiagnosticCode::unsupported_operator);
    EXPECT_EQ(diagnostic.node, expected[i].first);
    EXPECT_NE(diagnostic.message.find(expected[i].second), std::string::npos);
  }
}

TEST(OperatorChecks, ReportsAreBounded) {
  auto model = ParseGraph("g (float[4] x) => (float[4] x) { }");
  for (int i = 0; i < kMostReportedNodes + 5; ++i) {
    auto* node = model.mutable_graph()->add_node();
    node->set_op_type("Bogus");
    node->add_output("t" + std::to_string(i));
  }
  const Imported result = Import(model);
  ASSERT_EQ(result.sink.all().size(), size_t{kMostReportedNodes} + 1);
  EXPECT_NE(result.sink.all().back().message.find("5 more"), std::string::npos);
}

TEST(OperatorChecks, DynamicQuantization) {
  ExpectRefused(
      Import(ParseGraph("g (float[4] x) => (uint8[4] y) {"
                        " [dq] y, s, z = DynamicQuantizeLinear(x) }")),
      DiagnosticCode::dynamic_quantization, "dq", "DynamicQuantizeLinear");
}

TEST(OperatorChecks, ControlFlow) {
  const Imported result = Import(ParseGraph(
      "g (float[4] x, bool c) => (float[4] y) {"
      " [choose] y = If (c) <"
      "  then_branch = t () => (float[4] a) { a = Relu(x) },"
      "  else_branch = e () => (float[4] b) { b = Identity(x) }> }"));
  ExpectRefused(result, DiagnosticCode::control_flow, "choose", "If");
  EXPECT_EQ(result.sink.all().size(), 1u);
}

TEST(OperatorChecks, OperatorNotInThatVersion) {
  ExpectRefused(Import(ParseGraph("g (float[4] x, float s) => (uint8[4] y) {"
                                  " [q] y = QuantizeLinear(x, s) }",
                                  9)),
                DiagnosticCode::unsupported_operator, "q", "version 9");
}

TEST(OperatorChecks, DomainWithoutImport) {
  auto model = ParseModel(
      "<ir_version: 8, opset_import: [\"\" : 17]>"
      "g (float[4] x, float s) => (uint8[4] y) {"
      " [q] y = com.microsoft.QuantizeLinear(x, s) }");
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "q",
                "no opset_import");
}

TEST(OperatorChecks, Attributes) {
  auto model = ParseGraph(
      "g (float[4] x) => (float[4] y) {"
      " [n] y = Relu(x) }");
  auto* attribute = NodeNamed(&model, "n")->add_attribute();
  attribute->set_name("a");
  attribute->set_type(onnx::AttributeProto::TYPE_PROTO);
  ExpectRefused(Import(model), DiagnosticCode::unsupported_attribute, "n",
                "'a'");
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_ref_attr_name("outer");
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "n", "refers");
}

}  // namespace
}  // namespace fold::importer
