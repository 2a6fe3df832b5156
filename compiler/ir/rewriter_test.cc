// Each item of a migration sheet, left out or false, must refuse the change and
// leave the graph as it was.
#include "compiler/ir/rewriter.h"

#include "gtest/gtest.h"

namespace fold {
namespace {

Encoding PerTensor(double scale, int64_t zero) {
  Encoding e;
  e.scales = {scale};
  e.zero_points = {zero};
  return e;
}

// x -> first(x, c) -> y -> second(y) -> z; x, y, z quantized.
class RewriterTest : public testing::Test {
 protected:
  RewriterTest() {
    const Shape shape = {4};
    x_ = graph_.AddValue("x", {ElementType::i8, shape, PerTensor(0.5, 1)});
    y_ = graph_.AddValue("y", {ElementType::i8, shape, PerTensor(0.25, 2)});
    z_ = graph_.AddValue("z", {ElementType::i8, shape, PerTensor(0.125, 3)});
    c_ = graph_.AddConstant("c", MakeRealTensor(ElementType::f32, {}, {6.0}));
    graph_.inputs = {x_};
    first_ = graph_.AddNode(Make("a", {x_, c_}, {y_}));
    second_ = graph_.AddNode(Make("b", {y_}, {z_}));
    graph_.outputs = {z_};
    graph_.output_names = {"z"};
  }

  static Node Make(const std::string& name, std::vector<ValueId> operands,
                   std::vector<ValueId> results) {
    Node node;
    node.name = name;
    node.operands = std::move(operands);
    node.results = std::move(results);
    node.provenance.Add(name);
    return node;
  }

  // Both nodes become one whose steps hold the constant, and whose result type
  // is z's.
  Proposal Fusion() {
    Proposal proposal;
    proposal.removed = {first_, second_};
    const ValueId to = rewriter_.Declare("z", graph_.value(z_).type);
    Node node = Make("a", {x_}, {to});
    node.provenance.Add("b");
    node.steps.push_back({Step::Kind::kClip, {}, 0, 6.0, 0});
    node.attributes["y_scale"] = 0.25;
    proposal.added = {node};
    proposal.sheet.rule = "fusion";
    proposal.sheet.results = {{z_, to}};
    proposal.sheet.encodings = {
        {y_, to, EncodingMove::Destination::kAttribute, -1, -1}};
    proposal.sheet.constants = {{c_, to, ConstantMove::Kind::kAbsorbed, ""}};
    return proposal;
  }

  void ExpectRefused(Proposal proposal, const std::string& reason) {
    EXPECT_FALSE(rewriter_.Apply(std::move(proposal)));
    ASSERT_EQ(rewriter_.refused().size(), 1u);
    EXPECT_NE(rewriter_.refused()[0].reason.find(reason), std::string::npos)
        << rewriter_.refused()[0].reason;
    EXPECT_EQ(graph_.node_count(), 2u);
    EXPECT_EQ(graph_.outputs[0], z_);
    EXPECT_EQ(CheckStructure(graph_), "");
  }

  Graph graph_;
  Rewriter rewriter_{graph_};
  ValueId x_, y_, z_, c_;
  NodeId first_, second_;
};

TEST_F(RewriterTest, CompleteAndTrueSheetIsApplied) {
  ASSERT_TRUE(rewriter_.Apply(Fusion()));
  EXPECT_EQ(graph_.node_count(), 1u);
  EXPECT_EQ(graph_.value(graph_.outputs[0]).name, "z");
  EXPECT_EQ(CheckStructure(graph_), "");
  EXPECT_EQ(rewriter_.applied()[0].nodes_removed, 2);
}

TEST_F(RewriterTest, ResultWithoutDestination) {
  Proposal p = Fusion();
  p.sheet.results.clear();
  ExpectRefused(std::move(p), "result 'z' has no destination");
}

TEST_F(RewriterTest, ResultOfAnotherType) {
  Proposal p = Fusion();
  graph_.mutable_value(p.sheet.results[0].to).type.element = ElementType::u8;
  ExpectRefused(std::move(p), "changes its type");
}

TEST_F(RewriterTest, ResultThatLosesItsQuantization) {
  Proposal p = Fusion();
  graph_.mutable_value(p.sheet.results[0].to).type.encoding =
      PerTensor(0.126, 3);
  ExpectRefused(std::move(p), "loses its quantization");
}

TEST_F(RewriterTest, EncodingWithoutDestination) {
  Proposal p = Fusion();
  p.sheet.encodings.clear();
  ExpectRefused(std::move(p), "quantization of 'y' has no destination");
}

TEST_F(RewriterTest, EncodingThatIsNotWhereTheSheetSays) {
  Proposal p = Fusion();
  p.added[0].attributes["y_scale"] = 0.26;
  ExpectRefused(std::move(p), "is not in the node that makes");
}

TEST_F(RewriterTest, EncodingMergedWithAnother) {
  Proposal p = Fusion();
  p.sheet.encodings[0].destination = EncodingMove::Destination::kMerged;
  ExpectRefused(std::move(p), "is not the one of");
}

TEST_F(RewriterTest, EncodingOnAnotherAxisThanDeclared) {
  Encoding rows;
  rows.scales = {1, 2, 3, 4};
  rows.zero_points = {0, 0, 0, 0};
  rows.axis = 0;
  graph_.mutable_value(y_).type.encoding = rows;
  Proposal p = Fusion();
  const ValueId to = rewriter_.Declare(
      "t", {ElementType::i8, {2, 4}, rows});  // scales now on axis 0 of size 2
  p.sheet.encodings[0] = {y_, to, EncodingMove::Destination::kType, 0, 1};
  ExpectRefused(std::move(p), "another axis than it has");
}

TEST_F(RewriterTest, EncodingThatDoesNotFitItsNewAxis) {
  Encoding rows;
  rows.scales = {1, 2, 3, 4};
  rows.zero_points = {0, 0, 0, 0};
  rows.axis = 0;
  graph_.mutable_value(y_).type.encoding = rows;
  Proposal p = Fusion();
  const ValueId to = rewriter_.Declare("t", {ElementType::i8, {2, 4}, rows});
  p.sheet.encodings[0] = {y_, to, EncodingMove::Destination::kType, 0, 0};
  ExpectRefused(std::move(p), "does not fit the axis");
}

TEST_F(RewriterTest, ConstantWithoutDestination) {
  Proposal p = Fusion();
  p.sheet.constants.clear();
  ExpectRefused(std::move(p), "constant 'c' has no destination");
}

TEST_F(RewriterTest, ConstantThatIsNotAbsorbed) {
  Proposal p = Fusion();
  p.added[0].steps[0].high = 6.5;
  ExpectRefused(std::move(p), "is not in what it is said to be absorbed by");
}

TEST_F(RewriterTest, CloneThatDiffers) {
  Proposal p = Fusion();
  const ValueId clone =
      rewriter_.Declare("c2", {ElementType::f32, {}, std::nullopt},
                        MakeRealTensor(ElementType::f32, {}, {6.5}));
  p.sheet.constants[0] = {c_, clone, ConstantMove::Kind::kCloned, ""};
  ExpectRefused(std::move(p), "differs from its clone");
}

TEST_F(RewriterTest, ConstantDroppedWithoutReason) {
  Proposal p = Fusion();
  p.sheet.constants[0] = {c_, ValueId(), ConstantMove::Kind::kUnneeded, ""};
  ExpectRefused(std::move(p), "without a reason");
}

TEST_F(RewriterTest, ProvenanceWithoutDestination) {
  Proposal p = Fusion();
  p.added[0].provenance.nodes = {"a"};
  ExpectRefused(std::move(p), "provenance 'b' has no destination");
}

TEST_F(RewriterTest, ExceptionalValuesOnAnUnstatedDomain) {
  Proposal p = Fusion();
  p.sheet.exceptional_preserved = false;
  ExpectRefused(std::move(p), "unstated domain");
}

TEST_F(RewriterTest, NewNodeThatReadsWhatGoesAway) {
  Proposal p = Fusion();
  p.added[0].operands = {x_, y_};
  ExpectRefused(std::move(p), "goes away");
}

// Constant codes that go on as the real numbers that they stand for.
class NumbersTest : public testing::Test {
 protected:
  NumbersTest() {
    Encoding e = PerTensor(0.5, 1);
    e.axis = 0;
    e.scales = {0.5, 2};
    e.zero_points = {1, 0};
    codes_ = graph_.AddConstant(
        "codes", MakeIntegerTensor(ElementType::i8, {2, 1}, {3, -4}), e);
    x_ = graph_.AddValue("x", {ElementType::f32, {2, 1}, std::nullopt});
    y_ = graph_.AddValue("y", {ElementType::f32, {2, 1}, std::nullopt});
    graph_.inputs = {x_};
    Node node;
    node.operands = {x_, codes_};
    node.results = {y_};
    node_ = graph_.AddNode(node);
    graph_.outputs = {y_};
    graph_.output_names = {"y"};
  }

  // The refusal of a rewrite that says that `numbers` are those of the codes;
  // "" if it is applied. They are a constant, or bounds in a step.
  std::string Refusal(const std::vector<double>& numbers, bool constant) {
    Proposal proposal;
    proposal.removed = {node_};
    const ValueId to = rewriter_.Declare("y", graph_.value(y_).type);
    const ValueId made = rewriter_.Declare(
        "numbers",
        {ElementType::f64, {static_cast<int64_t>(numbers.size())}, {}},
        MakeRealTensor(ElementType::f64, {static_cast<int64_t>(numbers.size())},
                       numbers));
    Node node;
    node.operands = {x_};
    if (constant) node.operands.push_back(made);
    if (!constant) {
      node.steps.push_back({Step::Kind::kClip, {}, numbers[0], numbers[1], 0});
    }
    node.results = {to};
    proposal.added = {node};
    proposal.sheet.rule = "numbers";
    proposal.sheet.results = {{y_, to}};
    proposal.sheet.constants = {
        {codes_, made, ConstantMove::Kind::kTransformed, ""}};
    proposal.sheet.encodings = {{codes_, constant ? made : to,
                                 EncodingMove::Destination::kNumbers, 0, -1}};
    return rewriter_.Apply(std::move(proposal))
               ? ""
               : rewriter_.refused().back().reason;
  }

  Graph graph_;
  Rewriter rewriter_{graph_};
  ValueId codes_, x_, y_;
  NodeId node_;
};

TEST_F(NumbersTest, OfAConstant) { EXPECT_EQ(Refusal({1, -8}, true), ""); }

TEST_F(NumbersTest, OfAStep) { EXPECT_EQ(Refusal({-8, 1}, false), ""); }

TEST_F(NumbersTest, ThatAreOthers) {
  const std::string fault =
      "the quantization of 'codes' does not give the numbers of ";
  EXPECT_EQ(Refusal({3, -4}, true), fault + "'numbers'");    // the codes
  EXPECT_EQ(Refusal({-8, 1}, true), fault + "'numbers.1'");  // their order
  EXPECT_EQ(Refusal({1, -8, 0}, true), fault + "'numbers.2'");
  EXPECT_EQ(Refusal({-8, 1.5}, false), fault + "'y.4'");
}

}  // namespace
}  // namespace fold
