#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "compiler/ir/text_test_ops.h"

namespace fold {
namespace {

const TextTestOps kOps;

// "line:column: message", or what was parsed, printed again.
std::string Parsed(std::string_view text) {
  Graph graph;
  ParseError error;
  if (Parse(text, kOps, &graph, &error)) return Print(graph, kOps);
  return std::to_string(error.line) + ":" + std::to_string(error.column) +
         ": " + error.message;
}

TEST(Parser, ReadsAGraph) {
  const char* text =
      R"(fir 1 annotated
graph @main(%x: i8[8,4] q(s=0.5 z=-3) alias("x1","x2")) -> (%y as "out", %"a/b") {
  %w = const i8[2,8] q(s=[0.1,0.2] z=[0,0] axis=0) [1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8]
  %y, _, %"a/b" = conv(%w, %x, _) {b=1, c="t"} steps [add(1), clip(-1, inf)] : i8[2,4] q(s=0.25 z=1), _, f32[] name "n" loc("a","b")
  sink(%y)
}
)";
  EXPECT_EQ(Parsed(text), text);
}

TEST(Parser, ReadsTheGraphItself) {
  Graph graph;
  ParseError error;
  ASSERT_TRUE(
      Parse("fir 1 fused\ngraph @g(%x: i8[2]) -> %y {\n"
            "%c = const i8[2] q(s=0.5) [3,4]\n"
            "%y = conv(%x, %c) : i8[2] name \"n\" loc(\"b\",\"a\") }",
            kOps, &graph, &error))
      << error.message;
  EXPECT_EQ(CheckStructure(graph), "");
  EXPECT_EQ(graph.stage, Stage::fused);
  ASSERT_EQ(graph.outputs.size(), 1u);
  EXPECT_EQ(graph.output_names[0], "y");
  const Value& c = graph.value(graph.FindValue("c"));
  EXPECT_EQ(c.constant->integer(1), 4);
  EXPECT_EQ(c.type.encoding->scales[0], 0.5);
  const Node& node = graph.node(graph.order()[0]);
  EXPECT_EQ(node.name, "n");
  EXPECT_EQ(node.provenance.nodes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(graph.value(node.results[0]).producer, graph.order()[0]);
}

TEST(Parser, FaultsHaveTheirPlace) {
  EXPECT_EQ(Parsed(""), "1:1: expected 'fir'");
  EXPECT_EQ(Parsed("fir 2 imported"), "1:5: only version 1 is known");
  EXPECT_EQ(Parsed("fir 1 done"), "1:7: there is no such stage");
  EXPECT_EQ(Parsed("fir 1 imported"), "1:15: expected 'graph'");
  const std::string head = "fir 1 legal\ngraph @g(%x: i8[1]) -> (%y) {\n";
  EXPECT_EQ(Parsed(head + "}"), "2:25: this output is never made");
  EXPECT_EQ(Parsed(head), "3:1: expected an operator");
  EXPECT_EQ(Parsed(head + "%y = conv(%z) : i8[1]\n}"),
            "3:11: there is no such value before this line");
  EXPECT_EQ(Parsed(head + "%y = conv(%y) : i8[1]\n}"),
            "3:11: there is no such value before this line");
  EXPECT_EQ(Parsed(head + "%y = cnov(%x) : i8[1]\n}"),
            "3:6: there is no such operator");
  EXPECT_EQ(Parsed(head + "  %x = conv(%x) : i8[1]\n}"),
            "3:3: a value of this name is there already");
  EXPECT_EQ(Parsed(head + "%y, %y = split(%x) : i8[1], i8[1]\n}"),
            "3:5: a value of this name is there already");
  EXPECT_EQ(Parsed(head + "%y, %z = split(%x) : i8[1]\n}"),
            "4:1: expected ','");
  EXPECT_EQ(Parsed(head + "%y = strict(%x, %x) : i8[1]\n}"),
            "3:1: strict needs one operand");
  EXPECT_EQ(Parsed(head + "%y = conv(%x) : i8[1]\n} x"),
            "4:3: expected the end after the graph");
  EXPECT_EQ(Parsed(head + "%y = conv(%x) : i8[1] name conv\n}"),
            "3:28: expected a text in quotes");
}

TEST(Parser, AFailureLeavesTheGraphAlone) {
  Graph graph;
  graph.name = "before";
  ParseError error;
  EXPECT_FALSE(Parse("fir 1 legal\ngraph @after(", kOps, &graph, &error));
  EXPECT_EQ(graph.name, "before");
}

TEST(Parser, ShowsTheLineWithACaret) {
  Graph graph;
  ParseError error;
  EXPECT_FALSE(Parse("fir 1 legal\ngraph main", kOps, &graph, &error));
  EXPECT_EQ(error.caret, "graph main\n      ^");
}

}  // namespace
}  // namespace fold
