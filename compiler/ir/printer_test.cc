#include <gtest/gtest.h>

#include <limits>

#include "compiler/ir/text.h"
#include "compiler/ir/text_test_ops.h"

namespace fold {
namespace {

TEST(Printer, SaysEverythingThatTheGraphMeans) {
  Graph graph;
  graph.name = "net 1";
  graph.stage = Stage::folded;
  const Encoding encoding{{0.5}, {-3}};
  const ValueId x = graph.AddValue("x", {ElementType::i8, {1, 2}, encoding});
  graph.mutable_value(x).aliases = {"x2"};
  graph.inputs = {x};
  const ValueId unused =
      graph.AddConstant("unused", MakeIntegerTensor(ElementType::i8, {1}, {1}));
  const ValueId w = graph.AddConstant(
      "w/0", MakeIntegerTensor(ElementType::i8, {2}, {1, -2}), encoding);
  const ValueId kept =
      graph.AddConstant("kept", MakeRealTensor(ElementType::f32, {}, {0.1}));
  const ValueId y = graph.AddValue("y", {ElementType::i8, {1, 2}, encoding});
  Node node;
  node.op = OpId{0};
  node.name = "conv1";
  node.operands = {x, w, ValueId(), w, w, w};
  node.results = {y, ValueId()};
  node.attributes["pads"] = std::vector<int64_t>{1, 1};
  node.attributes["group"] = int64_t{1};
  node.attributes["alpha"] = 2.0;
  node.steps = {
      {Step::Kind::kBatchNorm, {1, 3, 4, 5}, 0, 0, 1e-5},
      {Step::Kind::kClip, {}, 0, std::numeric_limits<double>::infinity(), 0}};
  node.provenance.Add("relu1");
  node.provenance.Add("conv1");
  graph.AddNode(node);
  graph.outputs = {y, y, kept};
  graph.output_names = {"y", "again", "kept"};
  EXPECT_EQ(Print(graph, TextTestOps()),
            R"(fir 1 folded
graph @"net 1"(%x: i8[1,2] q(s=0.5 z=-3) alias("x2")) -> )"
            R"((%y, %y as "again", %kept) {
  %"w/0" = const i8[2] q(s=0.5 z=-3) [1,-2]
  %y, _ = conv(%x, %"w/0", _, %"w/0", %"w/0", %"w/0") )"
            R"({alpha=2.0, group=1, pads=[1,1]} )"
            R"(steps [batch_norm(1,3,4,5 eps=1e-05), clip(0, inf)] : )"
            R"(i8[1,2] q(s=0.5 z=-3), _ name "conv1" loc("conv1","relu1")
  %kept = const f32[] [0.1]
}
)");
  EXPECT_TRUE(graph.IsConstant(unused));  // it has no meaning, so no line
}

TEST(Printer, SheetsHaveALineForEachItem) {
  Graph graph;
  const ValueId w = graph.AddValue("w", {});
  const ValueId t = graph.AddValue("w/t", {});
  MigrationSheet sheet;
  sheet.rule = "turn";
  sheet.results = {{w, t}};
  sheet.encodings = {
      {w, t, EncodingMove::Destination::kType, 0, 1},
      {w, t, EncodingMove::Destination::kType, -1, -1},
      {w, t, EncodingMove::Destination::kAttribute, -1, -1, "alpha"},
      {w, t, EncodingMove::Destination::kMerged, -1, -1},
      {w, ValueId(), EncodingMove::Destination::kDead, -1, -1}};
  ConstantMove moved = {w, t, ConstantMove::Kind::kTransformed};
  moved.how = {{Derivation::Kind::kPermuted, {1, 0}},
               {Derivation::Kind::kNegated}};
  ConstantMove absorbed = {w, t, ConstantMove::Kind::kAbsorbed};
  absorbed.slot = {Slot::Kind::kScales};
  ConstantMove unneeded = {w, ValueId(), ConstantMove::Kind::kUnneeded,
                           "times 0"};
  unneeded.why = Unneeded::kNamed;
  ConstantMove dead = {w, ValueId(), ConstantMove::Kind::kUnneeded};
  dead.why = Unneeded::kDead;
  sheet.constants = {moved, absorbed, unneeded, dead};
  sheet.inferable = {{LostFact::Kind::kShape, w}};
  sheet.unrecoverable = {{LostFact::Kind::kName, w}};
  sheet.exceptional_preserved = false;
  sheet.exceptional_domain = "x = 0";
  sheet.cost.nodes_removed = 2;
  sheet.cost.nodes_added = 1;
  sheet.cost.constant_bytes_added = 16;
  sheet.cost.run_bytes_removed = 8;
  sheet.cost.seconds = 3;  // of one run: never printed
  EXPECT_EQ(PrintSheets(graph, std::vector<MigrationSheet>{sheet}),
            R"(sheet turn removed=2 added=1 constant_bytes=+16-0 run_bytes=+0-8
migrate %w -> %"w/t" result by turn
migrate %w -> %"w/t" axis 0->1 by turn
migrate %w -> %"w/t" encoding by turn
migrate %w -> %"w/t" encoding in attribute alpha by turn
migrate %w -> %"w/t" encoding merged by turn
migrate %w -> _ encoding dead by turn
migrate %w -> %"w/t" transformed permuted [1,0], negated by turn
migrate %w -> %"w/t" absorbed in scales by turn
migrate %w -> _ unneeded "times 0" by turn
migrate %w -> _ unneeded dead by turn
inferable shape of %w by turn
unrecoverable name of %w by turn
changes "x = 0" by turn
)");
}

}  // namespace
}  // namespace fold
