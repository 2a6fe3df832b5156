// What the rewriter does once a sheet holds; sheet_*_test.cc say when it does.
#include "compiler/ir/rewriter.h"

#include "compiler/ir/sheet_test_graph.h"

namespace fold {
namespace {

// x -> first -> y -> second -> z; a constant of 4 bytes for first.
class RewriterTest : public SheetTest {
 protected:
  RewriterTest() {
    const Shape shape = {4};
    x_ = graph_.AddValue("x", {ElementType::i8, shape, PerTensor(0.5, 1)});
    y_ = graph_.AddValue("y", {ElementType::f32, shape, std::nullopt});
    z_ = graph_.AddValue("z", {ElementType::i8, shape, PerTensor(0.125, 3)});
    c_ = graph_.AddConstant("c", MakeRealTensor(ElementType::f32, {}, {6.0}));
    graph_.inputs = {x_};
    first_ = graph_.AddNode(Make("a", {x_, c_}, {y_}));
    second_ = graph_.AddNode(Make("b", {y_}, {z_}));
    graph_.outputs = {z_};
    graph_.output_names = {"z"};
    Begin();
  }

  // Both nodes become one whose steps hold the constant.
  Proposal Fusion() {
    Proposal proposal;
    proposal.removed = {first_, second_};
    const ValueId to = rewriter_->Declare("z", graph_.value(z_).type);
    Node node = Make("a", {x_}, {to});
    node.provenance.Add("b");
    node.steps.push_back({Step::Kind::kClip, {}, 0, 6.0, 0});
    proposal.added = {node};
    proposal.sheet.rule = "fusion";
    proposal.sheet.results = {{z_, to}};
    ConstantMove move = {c_, to, ConstantMove::Kind::kAbsorbed};
    move.slot = {Slot::Kind::kClipHigh, 0};
    proposal.sheet.constants = {move};
    proposal.sheet.unrecoverable = {{LostFact::Kind::kName, y_}};
    return proposal;
  }

  ValueId x_, y_, z_, c_;
  NodeId first_, second_;
};

TEST_F(RewriterTest, CompleteAndTrueSheetIsApplied) {
  ExpectApplied(Fusion());
  EXPECT_EQ(graph_.node_count(), 1u);
  EXPECT_EQ(graph_.value(graph_.outputs[0]).name, "z");
}

TEST_F(RewriterTest, TheSheetSaysWhatItCost) {
  ExpectApplied(Fusion());
  const RewriteCost& cost = rewriter_->applied()[0].cost;
  EXPECT_EQ(cost.nodes_removed, 2);
  EXPECT_EQ(cost.nodes_added, 1);
  EXPECT_EQ(cost.constant_bytes_added, 0);
  EXPECT_EQ(cost.constant_bytes_removed, 4);
  EXPECT_EQ(cost.run_bytes_removed, 16 + 4);
  EXPECT_EQ(cost.run_bytes_added, 4);
  EXPECT_GE(cost.seconds, 0);
}

TEST_F(RewriterTest, AConstantWithOtherReadersCostsNothing) {
  const ValueId other =
      graph_.AddValue("o", {ElementType::i8, {4}, std::nullopt});
  graph_.AddNode(Make("other", {x_, c_}, {other}));
  graph_.outputs.push_back(other);
  graph_.output_names.push_back("o");
  ExpectApplied(Fusion());
  EXPECT_EQ(rewriter_->applied()[0].cost.constant_bytes_removed, 0);
}

TEST_F(RewriterTest, TheSheetNamesTheNodesAsUsersKnowThem) {
  ExpectApplied(Fusion());
  const MigrationSheet& sheet = rewriter_->applied()[0];
  ASSERT_EQ(sheet.removed.size(), 2u);
  EXPECT_EQ(sheet.removed[0].name, "a");
  EXPECT_EQ(sheet.removed[1].sources, std::vector<std::string>{"b"});
  ASSERT_EQ(sheet.added.size(), 1u);
  EXPECT_EQ(sheet.added[0].sources, (std::vector<std::string>{"a", "b"}));
}

TEST_F(RewriterTest, ABypassTakesTheNamesOver) {
  graph_.mutable_value(y_).aliases = {"also"};
  const ValueId real = graph_.AddValue("r", graph_.value(y_).type);
  graph_.inputs.push_back(real);
  graph_.SetOperands(first_, {real, c_});
  Proposal proposal;
  proposal.removed = {first_};
  proposal.sheet.rule = "bypass";
  proposal.sheet.results = {{y_, real}};
  ConstantMove move = {c_, ValueId(), ConstantMove::Kind::kUnneeded, "times 1"};
  move.why = Unneeded::kNamed;
  move.verify = [](const Graph&, const ConstantMove&) { return ""; };
  proposal.sheet.constants = {move};
  ExpectApplied(proposal);
  EXPECT_EQ(graph_.value(real).aliases,
            (std::vector<std::string>{"y", "also"}));
  EXPECT_EQ(graph_.node(second_).provenance.nodes,
            (std::vector<std::string>{"a", "b"}));
}

TEST_F(RewriterTest, ARefusedProposalTakesItsValuesBack) {
  rewriter_->Declare("left", {ElementType::i8, {4}, std::nullopt});
  rewriter_->Refuse("rule", first_, "no");
  EXPECT_EQ(graph_.value_count(), values_);
  EXPECT_EQ(rewriter_->refused()[0].node, "a");
  // The name is free again.
  const ValueId again =
      rewriter_->Declare("left", {ElementType::i8, {4}, std::nullopt});
  EXPECT_EQ(graph_.value(again).name, "left");
}

TEST_F(RewriterTest, NothingRemovedIsNothingProposed) {
  Proposal proposal;
  proposal.sheet.rule = "empty";
  ExpectRefused(proposal, "nothing is removed");
}

}  // namespace
}  // namespace fold
