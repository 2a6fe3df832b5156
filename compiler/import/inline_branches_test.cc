#include "compiler/import/inline_branches.h"

#include <gtest/gtest.h>

#include "compiler/import/test_model.h"
#include "compiler/ops/ops.h"

namespace fold::importer {
namespace {

// An If named `choose` over x: Relu if the condition holds, else Add(x, x).
std::string Choice(const std::string& condition) {
  return " [choose] y = If (" + condition +
         ") <"
         "  then_branch = t () => (float[4] a) { [r] a = Relu(x) },"
         "  else_branch = e () => (float[4] b) { [s] b = Add(x, x) }> }";
}

Op FirstOp(const Imported& result) { return OpOf(result.node(0)); }

TEST(InlineBranches, TheConditionDecides) {
  for (const auto& [value, op] :
       {std::pair{"1", Op::kRelu}, std::pair{"0", Op::kAdd}}) {
    const Imported result =
        Import(ParseGraph("g (float[4] x) => (float[4] y) <bool c = {" +
                          std::string(value) + "}> {" + Choice("c")));
    ASSERT_TRUE(result.good) << result.Text();
    ASSERT_EQ(result.graph.node_count(), 1u);
    EXPECT_EQ(FirstOp(result), op);
    EXPECT_EQ(result.graph.value(result.graph.outputs[0]).name, "y");
  }
}

// An exporter's squeeze: is this dimension 1? What only led there is gone,
// although foldd reads neither Equal nor Not.
TEST(InlineBranches, ConditionsFromShapes) {
  const Imported result = Import(ParseGraph(
      "g (float[4] x) => (float[4] y) <int64 zero = {0}, int64 four = {4}> {"
      " h = Relu(x) s = Shape(h) d = Gather(s, zero) e = Equal(d, four)"
      " n = Not(e)" +
      Choice("n")));
  ASSERT_TRUE(result.good) << result.Text();
  ASSERT_EQ(result.graph.node_count(), 1u);
  EXPECT_EQ(FirstOp(result), Op::kAdd);
}

TEST(InlineBranches, OpenShapesAreAskedFor) {
  const std::string graph =
      "g (float[n] x) => (float[n] y) <int64 zero = {0}, int64 four = {4}> {"
      " s = Shape(x) d = Gather(s, zero) e = Equal(d, four)"
      " [choose] y = If (e) <"
      "  then_branch = t () => (float[n] a) { a = Relu(x) },"
      "  else_branch = e () => (float[n] b) { b = Add(x, x) }> }";
  ExpectRefused(Import(ParseGraph(graph)), DiagnosticCode::dynamic_shape, "x");
  ImportOptions options;
  options.shapes = {{"x", {4}}};
  const Imported four = Import(ParseGraph(graph), options);
  ASSERT_TRUE(four.good) << four.Text();
  EXPECT_EQ(FirstOp(four), Op::kRelu);
  options.shapes = {{"x", {5}}};
  const Imported five = Import(ParseGraph(graph), options);
  ASSERT_TRUE(five.good) << five.Text();
  EXPECT_EQ(FirstOp(five), Op::kAdd);
}

TEST(InlineBranches, RunTimeConditions) {
  ExpectRefused(Import(ParseGraph("g (float[4] x, bool c) => (float[4] y) {" +
                                  Choice("c"))),
                DiagnosticCode::control_flow, "choose", "the condition 'c'");
  ExpectRefused(Import(ParseGraph("g (float[4] x, bool c) => (float[4] y) {"
                                  " n = Identity(c)" +
                                  Choice("n"))),
                DiagnosticCode::control_flow, "choose", "the condition 'n'");
}

TEST(InlineBranches, OtherControlFlow) {
  ExpectRefused(
      Import(ParseGraph(
          "g (float[4] x, int64 n, bool c) => (float[4] y) {"
          " [loop] y = Loop (n, c, x) <"
          "  body = b (int64 i, bool k, float[4] v) => (bool o, float[4] w) {"
          "   o = Identity(k) w = Relu(v) }> }")),
      DiagnosticCode::control_flow, "loop", "Loop");
  ExpectRefused(Import(ParseGraph("g (float[3,4] x) => (float[3,4] y) {"
                                  " [scan] y = Scan <num_scan_inputs = 1,"
                                  "  body = b (float[4] v) => (float[4] w) {"
                                  "   w = Relu(v) }> (x) }")),
                DiagnosticCode::control_flow, "scan", "Scan");
}

// Values and nodes of a branch have names that the graph around it, or the
// other branch of a second If, has too.
TEST(InlineBranches, NamesStayUnique) {
  const std::string inner =
      " <bool c = {1}, bool d = {0}> {"
      " [r] t = Relu(x)"
      " [choose] u = If (c) <"
      "  then_branch = t () => (float[4] a) {"
      "   [r] t = Add(x, x) [q] a = Add(t, x) },"
      "  else_branch = e () => (float[4] b) { b = Relu(x) }>"
      " [again] v = If (d) <"
      "  then_branch = t () => (float[4] a) { a = Relu(x) },"
      "  else_branch = e () => (float[4] a) {"
      "   [r] t = Mul(x, x) [q] a = Mul(t, u) }>"
      " [p] y = Add(t, v) }";
  const Imported result =
      Import(ParseGraph("g (float[4] x) => (float[4] y)" + inner));
  ASSERT_TRUE(result.good) << result.Text();
  ASSERT_EQ(result.graph.node_count(), 6u);
  std::string names, results;
  for (size_t i = 0; i < 6; ++i) {
    names += result.node(i).name + " ";
    results += result.graph.value(result.node(i).results[0]).name + " ";
  }
  EXPECT_EQ(names, "r choose/r q again/r again/q p ");
  EXPECT_EQ(results, "t choose/t u again/t v y ");
  // y = Relu(x) + (x * x) * (2 x + x)
  const Node& last = result.node(5);
  EXPECT_EQ(last.operands[0], result.node(0).results[0]);
  EXPECT_EQ(last.operands[1], result.node(4).results[0]);
  EXPECT_EQ(result.node(4).operands[1], result.node(2).results[0]);
}

TEST(InlineBranches, InitializersOfBranchAndParent) {
  const Imported result = Import(
      ParseGraph("g (float[2] x) => (float[2] y)"
                 " <float[2] w = {1, 2}, bool c = {1}> {"
                 " p = Add(x, w)"
                 " [choose] z = If (c) <"
                 "  then_branch = t () => (float[2] a) <float[2] w2 = {3, 4}> {"
                 "   b = Mul(p, w) a = Add(b, w2) },"
                 "  else_branch = e () => (float[2] a) { a = Relu(p) }>"
                 " y = Mul(z, w) }"));
  ASSERT_TRUE(result.good) << result.Text();
  ASSERT_EQ(result.graph.node_count(), 4u);
  const ValueId w = result.node(0).operands[1];
  EXPECT_EQ(result.node(1).operands[1], w);
  EXPECT_EQ(result.node(3).operands[1], w);
  EXPECT_NE(result.node(2).operands[1], w);
}

// Results that the branch does not make itself, or gives twice.
TEST(InlineBranches, ResultsThatAreNotMadeInside) {
  const Imported result = Import(ParseGraph(
      "g (float[2] x) => (float[2] y, float[2] z, float[2] v, float[2] w)"
      " <bool c = {1}> {"
      " [choose] y, z, v, w = If (c) <"
      "  then_branch = t () => (float[2] k, float[2] x, float[2] a, float[2] a)"
      "   <float[2] k = {3, 4}> { a = Relu(x) },"
      "  else_branch = e () => (float[2] a, float[2] b, float[2] d, float[2] f)"
      "   { a = Relu(x) b = Relu(x) d = Relu(x) f = Relu(x) }> }"));
  ASSERT_TRUE(result.good) << result.Text();
  ASSERT_EQ(result.graph.node_count(), 4u);
  EXPECT_EQ(OpOf(result.node(1)), Op::kIdentity);
  EXPECT_EQ(result.node(2).operands[0], result.graph.inputs[0]);
  EXPECT_EQ(result.node(3).operands[0], result.node(0).results[0]);
  ASSERT_EQ(result.graph.outputs.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(result.graph.value(result.graph.outputs[i]).name,
              std::string(1, "yzvw"[i]));
  }
}

// A branch inside a branch reads the values of both graphs around it, one of
// which gets another name.
TEST(InlineBranches, Nested) {
  const Imported result = Import(ParseGraph(
      "g (float[4] x) => (float[4] y) <bool c = {1}, bool no = {0}> {"
      " [r] t = Relu(x)"
      " [outer] u = If (c) <"
      "  then_branch = t1 () => (float[4] a) {"
      "   t = Mul(x, x)"
      "   n = Not(no)"
      "   [inner] a = If (n) <"
      "    then_branch = t2 () => (float[4] b) { b = Add(t, x) },"
      "    else_branch = e2 () => (float[4] b) { b = Relu(t) }> },"
      "  else_branch = e1 () => (float[4] a) { a = Relu(x) }>"
      " y = Add(u, t) }"));
  ASSERT_TRUE(result.good) << result.Text();
  ASSERT_EQ(result.graph.node_count(), 4u);
  EXPECT_EQ(OpOf(result.node(1)), Op::kMul);
  EXPECT_EQ(OpOf(result.node(2)), Op::kAdd);
  EXPECT_EQ(result.node(2).operands[0], result.node(1).results[0]);
  EXPECT_EQ(result.node(3).operands[1], result.node(0).results[0]);
}

// A graph inside that makes a value of the If's own result's name.
TEST(InlineBranches, NestedValueNamedAsTheResult) {
  const Imported result = Import(
      ParseGraph("g (float[4] x) => (float[4] y) <bool c = {1}> {"
                 " [outer] y = If (c) <"
                 "  then_branch = t1 () => (float[4] a) {"
                 "   p = Mul(x, x)"
                 "   [inner] q = If (c) <"
                 "    then_branch = t2 () => (float[4] b) {"
                 "     y = Add(p, x) b = Add(y, p) },"
                 "    else_branch = e2 () => (float[4] b) { b = Relu(p) }>"
                 "   a = Relu(q) },"
                 "  else_branch = e1 () => (float[4] a) { a = Relu(x) }> }"));
  ASSERT_TRUE(result.good) << result.Text();
  ASSERT_EQ(result.graph.node_count(), 5u);
  EXPECT_EQ(result.node(2).operands[0], result.node(1).results[0]);
  EXPECT_EQ(OpOf(result.node(4)), Op::kIdentity);
}

// What is not run need not be read.
TEST(InlineBranches, TheOtherBranchIsNotLookedAt) {
  EXPECT_TRUE(
      Import(ParseGraph("g (float[4] x) => (float[4] y) <bool c = {1}> {"
                        " y = If (c) <"
                        "  then_branch = t () => (float[4] a) { a = Relu(x) },"
                        "  else_branch = e () => (float[4] b) {"
                        "   b = Bogus(x) }> }"))
          .good);
  ExpectRefused(
      Import(ParseGraph("g (float[4] x) => (float[4] y) <bool c = {0}> {"
                        " y = If (c) <"
                        "  then_branch = t () => (float[4] a) { a = Relu(x) },"
                        "  else_branch = e () => (float[4] b) {"
                        "   [n] b = Bogus(x) }> }")),
      DiagnosticCode::unsupported_operator, "n");
}

TEST(InlineBranches, IfsThatAreNone) {
  const auto graph = [](const std::string& condition) {
    return ParseGraph("g (float[4] x) => (float[4] y) <" + condition + "> {" +
                      Choice("c"));
  };
  ExpectRefused(Import(graph("bool[2] c = {1, 1}")),
                DiagnosticCode::model_invalid, "choose", "one boolean");
  ExpectRefused(Import(graph("int64 c = {1}")), DiagnosticCode::model_invalid,
                "choose", "one boolean");
  auto model = graph("bool c = {1}");
  NodeNamed(&model, "choose")->mutable_attribute()->RemoveLast();
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "choose",
                "missing");
  model = graph("bool c = {1}");
  auto* branch = NodeNamed(&model, "choose")->mutable_attribute(0)->mutable_g();
  branch->add_output()->set_name("x");
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "choose",
                "number of results");
  branch->mutable_output()->RemoveLast();
  *branch->add_input() = model.graph().input(0);
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "choose",
                "inputs");
  model = graph("bool c = {1}");
  NodeNamed(&model, "choose")->clear_input();
  ExpectRefused(Import(model), DiagnosticCode::model_invalid, "choose",
                "condition");
}

// A branch reads what is made after the If.
TEST(InlineBranches, CapturesMustComeBefore) {
  ExpectRefused(
      Import(ParseGraph("g (float[4] x) => (float[4] z) <bool c = {1}> {"
                        " y = If (c) <"
                        "  then_branch = t () => (float[4] a) {"
                        "   [early] a = Relu(z) },"
                        "  else_branch = e () => (float[4] b) { b = Relu(x) }>"
                        " z = Relu(y) }")),
      DiagnosticCode::model_invalid, "early", "'z'");
}

}  // namespace
}  // namespace fold::importer
