#include "compiler/import/inline_functions.h"

#include <gtest/gtest.h>

#include "compiler/import/test_model.h"
#include "compiler/ops/ops.h"

namespace fold::importer {
namespace {

constexpr char kHeader[] =
    "<ir_version: 8, opset_import: [\"\" : 17, \"local\" : 1]>";
constexpr char kFunction[] = "<domain: \"local\", opset_import: [\"\" : 17]>";

TEST(InlineFunctions, BodiesReplaceCalls) {
  const Imported result = Import(ParseModel(
      std::string(kHeader) +
      "g (float[4] x) => (float[4] y) { [call] y = local.twice(x) }" +
      kFunction + "twice (a) => (c) { b = Relu(a) c = local.once(b) }" +
      kFunction + "once (a) => (c) { c = Add(a, a) }"));
  ASSERT_TRUE(result.good) << result.Text();
  EXPECT_EQ(result.graph.node_count(), 2u);
  const Imported flat = Import(
      ParseModel(std::string(kHeader) +
                 "g (float[4] x) => (float[4] y) {"
                 " [call] t = local.f(x) [again] y = local.f(t) }" +
                 kFunction + "f (a) => (c) { b = Relu(a) c = Add(b, a) }"));
  ASSERT_TRUE(flat.good) << flat.Text();
  ASSERT_EQ(flat.graph.node_count(), 4u);
  EXPECT_EQ(OpOf(flat.node(0)), Op::kRelu);
  EXPECT_EQ(OpOf(flat.node(1)), Op::kAdd);
  EXPECT_EQ(flat.node(1).operands[1], flat.graph.inputs[0]);
}

TEST(InlineFunctions, UncalledFunctionsAreDropped) {
  EXPECT_TRUE(Import(ParseModel(std::string(kHeader) +
                                "g (float[4] x) => (float[4] y) {"
                                " y = Relu(x) }" +
                                kFunction + "f (a) => (c) { c = Celu(a) }"))
                  .good);
}

TEST(InlineFunctions, Recursion) {
  const std::string function =
      "<domain: \"local\", opset_import: [\"\" : 17, \"local\" : 1]>";
  ExpectRefused(
      Import(ParseModel(std::string(kHeader) +
                        "g (float[4] x) => (float[4] y) {"
                        " [call] y = local.f(x) }" +
                        function + "f (a) => (c) { c = local.h(a) }" +
                        function + "h (a) => (c) { c = local.f(a) }")),
      DiagnosticCode::model_invalid, "functions", "Cycle");
}

// 60 functions, each calling the one before twice: 2^60 nodes.
TEST(InlineFunctions, ExpansionIsCountedFirst) {
  std::string text = std::string(kHeader) +
                     "g (float[4] x) => (float[4] y) {"
                     " [call] y = local.f59(x) }";
  const std::string function =
      "<domain: \"local\", opset_import: [\"\" : 17, \"local\" : 1]>";
  text += function + "f0 (a) => (c) { c = Relu(a) }";
  const auto calling_twice = [&](const std::string& callee) {
    return " (a) => (c) { b = " + callee + "(a) c = " + callee + "(b) }";
  };
  for (int i = 1; i < 60; ++i) {
    text += function + "f" + std::to_string(i);
    text += calling_twice("local.f" + std::to_string(i - 1));
  }
  ExpectRefused(Import(ParseModel(text)), DiagnosticCode::model_too_large,
                "functions", "nodes");
}

TEST(InlineFunctions, Subgraphs) {
  ExpectRefused(
      Import(ParseModel(std::string(kHeader) +
                        "g (float[4] x, bool b) => (float[4] y) {"
                        " [call] y = local.f(x, b) }" +
                        kFunction +
                        "f (a, b) => (c) { [choose] c = If (b) <"
                        "  then_branch = t () => (d) { d = Relu(a) },"
                        "  else_branch = e () => (d) { d = Identity(a) }> }")),
      DiagnosticCode::control_flow, "choose");
}

}  // namespace
}  // namespace fold::importer
