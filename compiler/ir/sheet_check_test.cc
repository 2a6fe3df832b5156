// Results, provenance, exceptional values, facts and structure of a sheet: each
// left out and each false. Every refusal leaves the graph as it was.
#include "compiler/ir/sheet_check.h"

#include "compiler/ir/sheet_test_graph.h"

namespace fold {
namespace {

// x -> a -> y -> b -> z -> reader -> out; y is read by b alone.
class SheetCheckTest : public SheetTest {
 protected:
  SheetCheckTest() {
    const Shape shape = {2, 3};
    x_ = graph_.AddValue("x", {ElementType::i8, shape, std::nullopt});
    y_ = graph_.AddValue("y", {ElementType::i8, {3, 2}, std::nullopt});
    z_ = graph_.AddValue("z", {ElementType::i8, shape, PerTensor(0.5, 1)});
    out_ = graph_.AddValue("out", {ElementType::i8, shape, std::nullopt});
    graph_.inputs = {x_};
    Node a = Make("a", {x_}, {y_}, SheetTestOps::kTurn);
    a.attributes["perm"] = std::vector<int64_t>{1, 0};
    a_ = graph_.AddNode(a);
    b_ = graph_.AddNode(Make("b", {y_}, {z_}));
    reader_ = graph_.AddNode(Make("reader", {z_}, {out_}));
    graph_.outputs = {out_};
    graph_.output_names = {"out"};
    Begin();
  }

  Proposal Fusion() {
    Proposal proposal;
    proposal.removed = {a_, b_};
    const ValueId to = rewriter_->Declare("z", graph_.value(z_).type);
    Node node = Make("a", {x_}, {to});
    node.provenance.Add("b");
    proposal.added = {node};
    proposal.sheet.rule = "fusion";
    proposal.sheet.results = {{z_, to}};
    proposal.sheet.unrecoverable = {{LostFact::Kind::kName, y_}};
    proposal.sheet.inferable = {{LostFact::Kind::kShape, y_}};
    return proposal;
  }

  TensorType& TypeOfNew(const Proposal& p) {
    return graph_.mutable_value(p.sheet.results[0].to).type;
  }

  ValueId x_, y_, z_, out_;
  NodeId a_, b_, reader_;
};

TEST_F(SheetCheckTest, CompleteAndTrue) { ExpectApplied(Fusion()); }

TEST_F(SheetCheckTest, ResultMissing) {
  Proposal p = Fusion();
  p.sheet.results.clear();
  ExpectRefused(p, "result 'z' has no destination");
}

TEST_F(SheetCheckTest, ResultOfAnotherType) {
  Proposal p = Fusion();
  TypeOfNew(p).element = ElementType::u8;
  ExpectRefused(p, "result 'z' changes its type or shape");
}

TEST_F(SheetCheckTest, ResultOfAnotherShape) {
  Proposal p = Fusion();
  TypeOfNew(p).shape = {3, 2};
  ExpectRefused(p, "result 'z' changes its type or shape");
}

TEST_F(SheetCheckTest, ResultThatLosesItsQuantization) {
  Proposal p = Fusion();
  TypeOfNew(p).encoding = std::nullopt;
  ExpectRefused(p, "result 'z' loses its quantization");
}

TEST_F(SheetCheckTest, ResultWithTwoDestinations) {
  Proposal p = Fusion();
  p.sheet.results.push_back(p.sheet.results[0]);
  ExpectRefused(p, "result 'z' has two destinations");
}

TEST_F(SheetCheckTest, ResultThatGoesToWhatGoesAway) {
  Proposal p = Fusion();
  p.sheet.results[0].to = y_;
  ExpectRefused(p, "result 'z' goes to a value that goes away");
}

TEST_F(SheetCheckTest, ResultThatNothingMakes) {
  Proposal p = Fusion();
  p.sheet.results[0].to = rewriter_->Declare("w", graph_.value(z_).type);
  ExpectRefused(p, "result 'z' goes to a value that goes away");
}

TEST_F(SheetCheckTest, ResultOfAnotherNode) {
  Proposal p = Fusion();
  p.sheet.results.push_back({out_, p.sheet.results[0].to});
  ExpectRefused(p, "the sheet moves 'out', which no removed node makes");
}

TEST_F(SheetCheckTest, ResultThatDependsOnItsReaders) {
  Proposal p = Fusion();
  p.added[0].operands = {out_};
  ExpectRefused(p, "what replaces a result depends on its readers");
}

TEST_F(SheetCheckTest, ProvenanceMissing) {
  Proposal p = Fusion();
  p.added[0].provenance.nodes = {"a"};
  ExpectRefused(p, "provenance 'b' has no destination");
}

TEST_F(SheetCheckTest, ProvenanceOfAnotherNode) {
  Proposal p = Fusion();
  p.added[0].provenance.Add("reader");
  ExpectRefused(p, "provenance 'reader' is not one of the removed nodes'");
}

TEST_F(SheetCheckTest, ExceptionalValuesOnAnUnstatedDomain) {
  Proposal p = Fusion();
  p.sheet.exceptional_preserved = false;
  ExpectRefused(p, "exceptional values change on an unstated domain");
}

TEST_F(SheetCheckTest, ExceptionalValuesPreservedAndChanged) {
  Proposal p = Fusion();
  p.sheet.exceptional_domain = "x = 0";
  ExpectRefused(
      p,
      "exceptional values are said to be preserved and to change on 'x = "
      "0'");
}

TEST_F(SheetCheckTest, ExceptionalOperatorGone) {
  graph_.mutable_node(b_).op = SheetTestOps::kDivide;
  Begin();
  ExpectRefused(Fusion(),
                "exceptional values of 'divide' are said to be preserved, and "
                "it goes away");
}

TEST_F(SheetCheckTest, ExceptionalOperatorNew) {
  Proposal p = Fusion();
  p.added[0].op = SheetTestOps::kDivide;
  ExpectRefused(p,
                "exceptional values of 'divide' are said to be preserved, and "
                "it is new");
}

TEST_F(SheetCheckTest, ExceptionalOperatorGoneOnAStatedDomain) {
  graph_.mutable_node(b_).op = SheetTestOps::kDivide;
  Begin();
  Proposal p = Fusion();
  p.sheet.exceptional_preserved = false;
  p.sheet.exceptional_domain = "x = 0";
  ExpectApplied(p);
}

TEST_F(SheetCheckTest, NameMissing) {
  Proposal p = Fusion();
  p.sheet.unrecoverable.clear();
  ExpectRefused(p, "the name of 'y' has no destination");
}

TEST_F(SheetCheckTest, NameLostAndFound) {
  Proposal p = Fusion();
  p.sheet.unrecoverable.push_back({LostFact::Kind::kName, z_});
  ExpectRefused(p, "the name of 'z' is said to be lost and has a destination");
}

TEST_F(SheetCheckTest, NameLostTwice) {
  Proposal p = Fusion();
  p.sheet.unrecoverable.push_back({LostFact::Kind::kName, y_});
  ExpectRefused(p, "the name of 'y' is lost twice");
}

TEST_F(SheetCheckTest, NameOfAValueThatStays) {
  Proposal p = Fusion();
  p.sheet.unrecoverable.push_back({LostFact::Kind::kName, out_});
  ExpectRefused(p, "the sheet gives up 'out', which no removed node makes");
}

TEST_F(SheetCheckTest, ScalesAreNeverGivenUp) {
  Proposal p = Fusion();
  p.sheet.unrecoverable.push_back({LostFact::Kind::kScales, y_});
  ExpectRefused(p, "the scales of 'y' is given up, and needs a destination");
}

TEST_F(SheetCheckTest, ScalesAreNeverInferred) {
  for (const auto& [kind, name] :
       {std::pair(LostFact::Kind::kScales, "scales"),
        std::pair(LostFact::Kind::kZeros, "zero points"),
        std::pair(LostFact::Kind::kName, "name")}) {
    Begin();
    Proposal p = Fusion();
    p.sheet.inferable.push_back({kind, y_});
    ExpectRefused(p, "the " + std::string(name) + " of 'y' cannot be inferred");
  }
}

TEST_F(SheetCheckTest, ShapeThatDoesNotFollow) {
  Proposal p = Fusion();  // nothing is known of `any`, which makes z
  p.sheet.inferable.push_back({LostFact::Kind::kShape, z_});
  ExpectRefused(p, "the shape of 'z' does not follow from the operands");
}

TEST_F(SheetCheckTest, NewNodeReadsWhatGoesAway) {
  Proposal p = Fusion();
  p.added[0].operands = {y_};
  ExpectRefused(p, "a new node reads 'y', which goes away");
}

TEST_F(SheetCheckTest, NewNodeReadsWhatNothingMakes) {
  Proposal p = Fusion();
  const ValueId none = rewriter_->Declare("none", graph_.value(x_).type);
  p.added[0].operands = {none};
  ExpectRefused(p, "a new node reads 'none', which nothing makes");
}

TEST_F(SheetCheckTest, NewNodeMakesWhatIsMade) {
  Proposal p = Fusion();
  p.added[0].results = {out_};
  p.sheet.results[0].to = out_;
  ExpectRefused(p, "a new node makes 'out', which is made already");
}

TEST_F(SheetCheckTest, NewNodeThatDoesNotFitItsOperator) {
  Proposal p = Fusion();
  p.added[0].operands.clear();
  ExpectRefused(p, "new node 'a': no operands");
}

TEST_F(SheetCheckTest, NodeRemovedTwice) {
  Proposal p = Fusion();
  p.removed.push_back(a_);
  ExpectRefused(p, "a node is removed twice");
}

// A result that becomes a constant is evaluated again.
TEST_F(SheetCheckTest, ResultThatEvaluatesToAnotherConstant) {
  const TensorPtr data =
      MakeIntegerTensor(ElementType::i8, {2, 3}, {1, 2, 3, 4, 5, 6});
  const ValueId c = graph_.AddConstant("c", data);
  graph_.SetOperands(a_, {c});
  Begin();
  for (const bool good : {false, true}) {
    std::vector<int64_t> turned = {1, 4, 2, 5, 3, 6};
    if (!good) std::swap(turned[0], turned[1]);
    const ValueId to =
        rewriter_->Declare("k", graph_.value(y_).type,
                           MakeIntegerTensor(ElementType::i8, {3, 2}, turned));
    Proposal p;
    p.removed = {a_};
    p.sheet.results = {{y_, to}};
    ConstantMove move = {c, to, ConstantMove::Kind::kTransformed};
    move.how = {{Derivation::Kind::kPermuted, {1, 0}}};
    p.sheet.constants = {move};
    if (good) {
      ExpectApplied(p);
    } else {
      ExpectRefused(p, "result 'y' is not what the node evaluates to");
    }
  }
}

TEST_F(SheetCheckTest, ResultThatBecomesAConstantOfNothing) {
  const ValueId to = rewriter_->Declare(
      "k", graph_.value(y_).type,
      MakeIntegerTensor(ElementType::i8, {3, 2}, {1, 2, 3, 4, 5, 6}));
  Proposal p;
  p.removed = {a_};
  p.sheet.results = {{y_, to}};
  ExpectRefused(p, "result 'y' becomes a constant that nothing computes");
}

}  // namespace
}  // namespace fold
