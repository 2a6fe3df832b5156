// Quantizations of a sheet: each kind of destination left out and false.
#include "compiler/ir/sheet_test_graph.h"

namespace fold {
namespace {

using Destination = EncodingMove::Destination;

// x -> turn -> t -> b -> y, the output; x [2,3] is quantized along axis 0, and
// so t [3,2] along axis 1.
class SheetEncodingsTest : public SheetTest {
 protected:
  SheetEncodingsTest() {
    x_ =
        graph_.AddValue("x", {ElementType::i8, {2, 3}, PerRow({0.5, 0.25}, 0)});
    t_ =
        graph_.AddValue("t", {ElementType::i8, {3, 2}, PerRow({0.5, 0.25}, 1)});
    y_ = graph_.AddValue("y", {ElementType::i8, {3, 2}, PerTensor(2, 1)});
    graph_.inputs = {x_};
    turn_ = graph_.AddNode(Turn(x_, t_, {1, 0}));
    b_ = graph_.AddNode(Make("b", {t_}, {y_}));
    graph_.outputs = {y_};
    graph_.output_names = {"y"};
    Begin();
  }

  Node Turn(ValueId from, ValueId to, std::vector<int64_t> perm) const {
    Node node = Make("turn", {from}, {to}, SheetTestOps::kTurn);
    node.attributes["perm"] = std::move(perm);
    return node;
  }

  // turn and b become one node that reads x; t goes away.
  Proposal Fusion() {
    Proposal p;
    p.removed = {turn_, b_};
    const ValueId to = rewriter_->Declare("y", graph_.value(y_).type);
    p.added = {Make("turn", {x_}, {to})};
    p.added[0].provenance.Add("b");
    p.sheet.rule = "fusion";
    p.sheet.results = {{y_, to}};
    p.sheet.encodings = {{t_, x_, Destination::kType, 1, 0}};
    p.sheet.unrecoverable = {{LostFact::Kind::kName, t_}};
    return p;
  }

  ValueId x_, t_, y_;
  NodeId turn_, b_;
};

// codes (a constant) -> b -> y: new nodes read the numbers of the codes.
class SheetNumbersTest : public SheetTest {
 protected:
  SheetNumbersTest() {
    codes_ = graph_.AddConstant(
        "codes", MakeIntegerTensor(ElementType::i8, {2}, {3, -4}),
        PerTensor(2, 1));
    y_ = graph_.AddValue("y", {ElementType::f32, {2}, std::nullopt});
    b_ = graph_.AddNode(Make("b", {codes_}, {y_}));
    graph_.outputs = {y_};
    graph_.output_names = {"y"};
    Begin();
  }

  Proposal Numbers(const std::vector<double>& numbers) {
    Proposal p;
    p.removed = {b_};
    const Shape shape = {static_cast<int64_t>(numbers.size())};
    const ValueId made =
        rewriter_->Declare("numbers", {ElementType::f64, shape, std::nullopt},
                           MakeRealTensor(ElementType::f64, shape, numbers));
    const ValueId to = rewriter_->Declare("y", graph_.value(y_).type);
    p.added = {Make("b", {made}, {to})};
    p.sheet.rule = "numbers";
    p.sheet.results = {{y_, to}};
    ConstantMove move = {codes_, made, ConstantMove::Kind::kTransformed,
                         "them"};
    move.how = {{Derivation::Kind::kNamed}};
    move.verify = [](const Graph&, const ConstantMove&) { return ""; };
    p.sheet.constants = {move};
    p.sheet.encodings = {{codes_, made, Destination::kNumbers, -1, -1}};
    return p;
  }

  ValueId codes_, y_;
  NodeId b_;
};

TEST_F(SheetNumbersTest, AreThoseOfTheCodes) {
  ExpectApplied(Numbers({4, -10}));
}

constexpr char kOtherNumbers[] =
    "the quantization of 'codes' does not give the numbers of 'numbers'";

TEST_F(SheetNumbersTest, AreTheCodes) {
  ExpectRefused(Numbers({3, -4}), kOtherNumbers);
}

TEST_F(SheetNumbersTest, AreInAnotherOrder) {
  ExpectRefused(Numbers({-10, 4}), kOtherNumbers);
}

TEST_F(SheetNumbersTest, AreOneMore) {
  ExpectRefused(Numbers({4, -10, 0}), kOtherNumbers);
}

TEST_F(SheetEncodingsTest, CompleteAndTrue) { ExpectApplied(Fusion()); }

TEST_F(SheetEncodingsTest, Missing) {
  Proposal p = Fusion();
  p.sheet.encodings.clear();
  ExpectRefused(p, "the quantization of 't' has no destination");
}

TEST_F(SheetEncodingsTest, TwoDestinations) {
  Proposal p = Fusion();
  p.sheet.encodings.push_back(p.sheet.encodings[0]);
  ExpectRefused(p, "the quantization of 't' has two destinations");
}

TEST_F(SheetEncodingsTest, OfAValueWithoutOne) {
  const ValueId r = graph_.AddValue("r", {ElementType::i8, {}, std::nullopt});
  graph_.inputs.push_back(r);
  Begin();
  Proposal p = Fusion();
  p.sheet.encodings.push_back({r, x_, Destination::kType});
  ExpectRefused(p, "the quantization of 'r' is moved, and it has none");
}

TEST_F(SheetEncodingsTest, OfNoRemovedNode) {
  const ValueId r = graph_.AddValue("r", graph_.value(x_).type);
  graph_.inputs.push_back(r);
  Begin();
  Proposal p = Fusion();
  p.sheet.encodings.push_back({r, x_, Destination::kType, 0, 0});
  ExpectRefused(p,
                "the quantization of 'r' is moved, and no removed node reads "
                "or makes it");
}

TEST_F(SheetEncodingsTest, ToWhatGoesAway) {
  Proposal p = Fusion();
  p.sheet.encodings[0].to = t_;
  ExpectRefused(p, "the quantization of 't' goes to a value that goes away");
}

TEST_F(SheetEncodingsTest, ToWhatTheChangeDoesNotTouch) {
  const ValueId r = graph_.AddValue("r", graph_.value(x_).type);
  graph_.inputs.push_back(r);
  Begin();
  Proposal p = Fusion();
  p.sheet.encodings[0].to = r;
  ExpectRefused(p,
                "the quantization of 't' goes to 'r', which no new node reads "
                "or makes");
}

TEST_F(SheetEncodingsTest, TypeWithOtherParameters) {
  for (const int change : {0, 1, 2}) {
    graph_.mutable_value(x_).type.encoding = PerRow({0.5, 0.25}, 0);
    Encoding& e = *graph_.mutable_value(x_).type.encoding;
    if (change == 0) e.scales[1] = 0.26;
    if (change == 1) e.zero_points[0] = 1;
    if (change == 2) e.rounding = Rounding::kFloor;
    Begin();
    ExpectRefused(Fusion(),
                  "the quantization of 't' is not in the type of 'x'");
  }
}

TEST_F(SheetEncodingsTest, TypeOnAnotherAxisThanDeclared) {
  Proposal p = Fusion();
  p.sheet.encodings[0].from_axis = 0;
  ExpectRefused(
      p, "the quantization of 't' is declared on another axis than it has");
}

TEST_F(SheetEncodingsTest, TypeThatDoesNotFitItsAxis) {
  graph_.mutable_value(x_).type.encoding->axis = 1;
  Begin();
  Proposal p = Fusion();
  p.sheet.encodings[0].to_axis = 1;
  ExpectRefused(p, "the quantization of 't' does not fit the axis it moves to");
}

// Both axes have two entries: only the data says which one is right.
TEST_F(SheetEncodingsTest, AxisFollowsTheData) {
  for (ValueId v : {x_, t_, y_}) {
    graph_.mutable_value(v).type.shape = {2, 2};
  }
  for (const int axis : {1, 0}) {
    graph_.mutable_value(x_).type.encoding->axis = axis;
    Begin();
    Proposal p = Fusion();
    p.sheet.encodings[0].to_axis = axis;
    if (axis == 0) {
      ExpectApplied(p);
    } else {
      ExpectRefused(p,
                    "the quantization of 't' is on axis 1 of 'x', and its "
                    "data is on axis 0");
    }
  }
}

TEST_F(SheetEncodingsTest, AxisOfDataThatNobodyKnows) {
  graph_.mutable_node(turn_).op = SheetTestOps::kAny;
  Begin();
  ExpectRefused(Fusion(),
                "the quantization of 't' is on axis 0 of 'x', and its data is "
                "not known to be there");
}

// A constant goes another way than the sheet says of its quantization.
TEST_F(SheetEncodingsTest, AxisOfAConstantFollowsItsDerivation) {
  const TensorPtr data =
      MakeIntegerTensor(ElementType::i8, {2, 2}, {1, 2, 3, 4});
  const TensorPtr turned =
      MakeIntegerTensor(ElementType::i8, {2, 2}, {1, 3, 2, 4});
  const ValueId c = graph_.AddConstant("c", data, PerRow({0.5, 0.25}, 0));
  graph_.SetOperands(b_, {t_, c});
  for (const int axis : {0, 1}) {
    Begin();
    Proposal p;
    p.removed = {b_};
    const ValueId k = rewriter_->Declare(
        "k", {ElementType::i8, {2, 2}, PerRow({0.5, 0.25}, axis)}, turned);
    const ValueId to = rewriter_->Declare("y", graph_.value(y_).type);
    p.added = {Make("b", {t_, k}, {to})};
    p.sheet.results = {{y_, to}};
    ConstantMove move = {c, k, ConstantMove::Kind::kTransformed};
    move.how = {{Derivation::Kind::kPermuted, {1, 0}}};
    p.sheet.constants = {move};
    p.sheet.encodings = {{c, k, Destination::kType, 0, axis}};
    if (axis == 1) {
      ExpectApplied(p);
    } else {
      ExpectRefused(p,
                    "the quantization of 'c' is on axis 0 of 'k', and its "
                    "data is on axis 1");
    }
  }
}

TEST_F(SheetEncodingsTest, Merged) {
  Proposal p = Fusion();
  p.sheet.encodings[0].destination = Destination::kMerged;
  ExpectRefused(p, "the quantization of 't' is not the one of 'x'");
  graph_.mutable_value(t_).type.encoding = graph_.value(x_).type.encoding;
  Begin();
  p = Fusion();
  p.sheet.encodings[0].destination = Destination::kMerged;
  ExpectApplied(p);
}

TEST_F(SheetEncodingsTest, AttributesHaveScalesAndZeroPoints) {
  const auto propose = [&](std::vector<double> scales, bool zeros) {
    Proposal p = Fusion();
    p.sheet.encodings[0] = {
        t_, p.sheet.results[0].to, Destination::kAttribute, -1, -1, "scales"};
    p.added[0].attributes["other"] = std::vector<double>{0.5, 0.25};
    p.added[0].attributes["scales"] = std::move(scales);
    if (zeros) {
      p.sheet.encodings[0].zero_attribute = "zeros";
      p.added[0].attributes["zeros"] = std::vector<int64_t>{0, 3};
    }
    return p;
  };
  ExpectRefused(propose({0.25, 0.5}, false),
                "the quantization of 't' is not in attribute 'scales' of the "
                "node that makes 'y.1'");
  EXPECT_EQ(SheetFaultOf(propose({0.5, 0.25}, false)), "");
  graph_.mutable_value(t_).type.encoding->zero_points = {0, 3};
  graph_.mutable_value(x_).type.encoding->zero_points = {0, 3};
  Begin();
  ExpectRefused(propose({0.5, 0.25}, false),
                "the quantization of 't' has zero points, and they are not in "
                "attribute '' of the node that makes 'y.2'");
  Begin();
  ExpectApplied(propose({0.5, 0.25}, true));
}

TEST_F(SheetEncodingsTest, DeadAndNeeded) {
  Proposal p = Fusion();
  p.sheet.encodings[0] = {t_, {}, Destination::kDead};
  ExpectRefused(p, "the quantization of 't' is needed by an output");
}

TEST_F(SheetEncodingsTest, Dead) {
  const ValueId lost = graph_.AddValue("lost", graph_.value(x_).type);
  const NodeId id = graph_.AddNode(Make("lost", {x_}, {lost}));
  Begin();
  Proposal p;
  p.removed = {id};
  p.sheet.unrecoverable = {{LostFact::Kind::kName, lost}};
  ExpectRefused(p, "the quantization of 'lost' has no destination");
  Begin();
  p.sheet.encodings = {{lost, {}, Destination::kDead}};
  ExpectApplied(p);
}

TEST_F(SheetEncodingsTest, OutOfNowhere) {
  const auto propose = [&](double scale) {
    Proposal p = Fusion();
    const ValueId between = rewriter_->Declare(
        "between", {ElementType::i8, {2, 3}, PerTensor(scale, 1)});
    Node node = Make("turn", {x_}, {between});
    p.added[0].operands = {between, x_};
    p.added.insert(p.added.begin(), node);
    return p;
  };
  ExpectRefused(propose(3), "the quantization of 'between' comes from nowhere");
  Begin();
  ExpectApplied(propose(2));
}

}  // namespace
}  // namespace fold
