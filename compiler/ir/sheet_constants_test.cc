// Constants of a sheet: each kind of item left out and false.
#include <limits>

#include "compiler/ir/sheet_test_graph.h"

namespace fold {
namespace {

using Kind = ConstantMove::Kind;

// x, c -> a -> y, the output. `c` is i8 [2,3], quantized by row.
class SheetConstantsTest : public SheetTest {
 protected:
  SheetConstantsTest() {
    x_ = graph_.AddValue("x", {ElementType::i8, {2, 3}, PerTensor(0.5, 3)});
    y_ = graph_.AddValue("y", {ElementType::i8, {2, 3}, PerTensor(0.25, -4)});
    c_ = graph_.AddConstant(
        "c", MakeIntegerTensor(ElementType::i8, {2, 3}, {1, 2, 3, 4, 5, 6}));
    graph_.inputs = {x_};
    a_ = graph_.AddNode(Make("a", {x_, c_}, {y_}));
    graph_.outputs = {y_};
    graph_.output_names = {"y"};
    Begin();
  }

  void UseConstant(TensorPtr tensor) {
    graph_.mutable_value(c_).type.element = tensor->type;
    graph_.mutable_value(c_).type.shape = tensor->shape;
    graph_.mutable_value(c_).constant = std::move(tensor);
    Begin();
  }

  void UseNumber(double number) {
    UseConstant(MakeRealTensor(ElementType::f32, {}, {number}));
  }

  // a is replaced by a node that reads x and `operand`.
  Proposal Replace(ValueId operand = {}) {
    Proposal p;
    p.removed = {a_};
    const ValueId to = rewriter_->Declare("y", graph_.value(y_).type);
    p.added = {Make("a", {x_}, {to})};
    if (operand.valid()) p.added[0].operands.push_back(operand);
    p.sheet.rule = "rule";
    p.sheet.results = {{y_, to}};
    return p;
  }

  ValueId New(TensorPtr tensor) {
    const TensorType type = {tensor->type, tensor->shape, std::nullopt};
    return rewriter_->Declare("new", type, std::move(tensor));
  }

  ConstantMove Move(Kind kind, ValueId to) const { return {c_, to, kind}; }

  ConstantMove Absorbed(const Proposal& p, Slot slot) const {
    ConstantMove move = Move(Kind::kAbsorbed, p.sheet.results[0].to);
    move.slot = std::move(slot);
    return move;
  }

  // `slot` holds with `good` as the constant's number, and not with `bad`.
  void ExpectInSlot(double good, double bad, const Slot& slot,
                    void (*prepare)(Node&) = nullptr) {
    for (const double number : {bad, good}) {
      UseNumber(number);
      Proposal p = Replace();
      if (prepare) prepare(p.added[0]);
      p.sheet.constants = {Absorbed(p, slot)};
      if (number == good) {
        EXPECT_EQ(SheetFaultOf(p), "");
      } else {
        ExpectRefused(p,
                      "constant 'c' is not in what it is said to be "
                      "absorbed by, '" +
                          graph_.value(p.sheet.results[0].to).name + "'");
      }
    }
  }

  ValueId x_, y_, c_;
  NodeId a_;
};

TEST_F(SheetConstantsTest, Missing) {
  ExpectRefused(Replace(), "constant 'c' has no destination");
}

TEST_F(SheetConstantsTest, Kept) { ExpectApplied(Replace(c_)); }

TEST_F(SheetConstantsTest, MovedAndNotRead) {
  Proposal p = Replace();
  p.sheet.constants = {Move(Kind::kMoved, c_)};
  ExpectRefused(p, "constant 'c' is declared moved and read by no new node");
}

TEST_F(SheetConstantsTest, OfNoRemovedNode) {
  const ValueId other =
      graph_.AddConstant("other", MakeRealTensor(ElementType::f32, {}, {0.25}));
  const ValueId o = graph_.AddValue("o", graph_.value(y_).type);
  graph_.AddNode(Make("o", {x_, other}, {o}));
  graph_.outputs.push_back(o);
  graph_.output_names.push_back("o");
  Begin();
  Proposal p = Replace(c_);
  p.sheet.constants = {Absorbed(p, {Slot::Kind::kScales})};
  p.sheet.constants[0].from = other;
  ExpectRefused(
      p, "the sheet speaks of constant 'other', which no removed node reads");
}

TEST_F(SheetConstantsTest, OfAValueThatIsNone) {
  Proposal p = Replace(c_);
  p.sheet.constants = {Absorbed(p, {Slot::Kind::kScales})};
  p.sheet.constants[0].from = x_;
  ExpectRefused(p, "the sheet speaks of 'x', which is no constant");
}

TEST_F(SheetConstantsTest, SaidTwice) {
  Proposal p = Replace(c_);
  p.sheet.constants = {Move(Kind::kMoved, c_), Move(Kind::kMoved, c_)};
  ExpectRefused(p, "constant 'c' is said twice");
}

TEST_F(SheetConstantsTest, MoreDestinationsThanReaders) {
  UseNumber(0.25);
  Proposal p = Replace(c_);
  p.sheet.constants = {Move(Kind::kMoved, c_),
                       Absorbed(p, {Slot::Kind::kScales})};
  ExpectRefused(p, "constant 'c' has more destinations than readers");
}

TEST_F(SheetConstantsTest, Cloned) {
  for (const int last : {7, 6}) {
    const ValueId clone =
        New(MakeIntegerTensor(ElementType::i8, {2, 3}, {1, 2, 3, 4, 5, last}));
    Proposal p = Replace(clone);
    p.sheet.constants = {Move(Kind::kCloned, clone)};
    if (last == 6) {
      ExpectApplied(p);
    } else {
      ExpectRefused(p, "constant 'c' differs from its clone");
    }
  }
}

TEST_F(SheetConstantsTest, CloneThatNobodyReads) {
  const ValueId clone = New(graph_.value(c_).constant);
  Proposal p = Replace();
  p.sheet.constants = {Move(Kind::kCloned, clone)};
  ExpectRefused(p, "constant 'c' goes to 'new', which no new node reads");
}

TEST_F(SheetConstantsTest, TransformedToNothing) {
  Proposal p = Replace();
  p.sheet.constants = {Move(Kind::kTransformed, x_)};
  ExpectRefused(p, "constant 'c' is transformed to nothing");
}

TEST_F(SheetConstantsTest, TransformedWithoutAWord) {
  const ValueId to =
      New(MakeIntegerTensor(ElementType::i8, {3, 2}, {1, 4, 2, 5, 3, 6}));
  Proposal p = Replace(to);
  p.sheet.constants = {Move(Kind::kTransformed, to)};
  ExpectRefused(p,
                "constant 'c' is transformed, and the sheet does not say how");
}

struct Transformation {
  TensorPtr from, good, bad;
  std::vector<Derivation> how;
};

TEST_F(SheetConstantsTest, EachWayIsCarriedOutAgain) {
  using Way = Derivation::Kind;
  const auto i8 = [](Shape shape, const std::vector<int64_t>& codes) {
    return MakeIntegerTensor(ElementType::i8, std::move(shape), codes);
  };
  const auto f32 = [](Shape shape, const std::vector<double>& numbers) {
    return MakeRealTensor(ElementType::f32, std::move(shape), numbers);
  };
  const Transformation all[] = {
      {i8({2, 2}, {1, 2, 3, 4}),
       i8({4}, {1, 2, 3, 4}),
       i8({4}, {1, 3, 2, 4}),
       {{Way::kReshaped}}},
      {i8({2, 2}, {1, 2, 3, 4}),
       i8({2, 2}, {1, 3, 2, 4}),
       i8({2, 2}, {1, 2, 3, 4}),
       {{Way::kPermuted, {1, 0}}}},
      {f32({2}, {3, 3}), f32({}, {3}), f32({}, {4}), {{Way::kCollapsed}}},
      {f32({2}, {3, -1}),
       f32({2}, {-3, 1}),
       f32({2}, {3, -1}),
       {{Way::kNegated}}},
      {i8({2}, {3, -1}), f32({2}, {3, -1}), f32({2}, {3, 1}), {{Way::kCast}}},
      // To the codes of y: 1 / 0.25 - 4, 0.375 / 0.25 = 1.5 to even - 4.
      {f32({2}, {1, 0.375}),
       i8({2}, {0, -2}),
       i8({2}, {0, -3}),
       {{Way::kQuantized, {}, y_}}},
      {f32({1, 2}, {1, 2}),
       f32({2}, {-1, -2}),
       f32({2}, {1, 2}),
       {{Way::kReshaped}, {Way::kNegated}}},
  };
  for (const Transformation& t : all) {
    for (const TensorPtr& to : {t.bad, t.good}) {
      UseConstant(t.from);
      const ValueId fresh = New(to);
      Proposal p = Replace(fresh);
      p.sheet.constants = {Move(Kind::kTransformed, fresh)};
      p.sheet.constants[0].how = t.how;
      const std::string reason = SheetFaultOf(p);
      if (to == t.good) {
        EXPECT_EQ(reason, "") << DerivationName(t.how[0].kind);
      } else {
        EXPECT_NE(reason.find("constant 'c' is not " +
                              std::string(DerivationName(t.how[0].kind))),
                  std::string::npos)
            << reason;
      }
    }
  }
}

TEST_F(SheetConstantsTest, EvaluatedByARemovedNodeAlone) {
  Node turn = Make("turn", {c_}, {}, SheetTestOps::kTurn);
  turn.attributes["perm"] = std::vector<int64_t>{1, 0};
  const auto propose = [&] {
    const ValueId to =
        New(MakeIntegerTensor(ElementType::i8, {3, 2}, {1, 4, 2, 5, 3, 6}));
    Proposal p = Replace(to);
    ConstantMove move = Move(Kind::kTransformed, to);
    move.how = {{Derivation::Kind::kEvaluated}};
    move.how[0].node = turn;
    p.sheet.constants = {move};
    return p;
  };
  ExpectRefused(propose(),
                "constant 'c' is evaluated by a node that is not removed or "
                "does not read it");
  graph_.mutable_node(a_).op = SheetTestOps::kTurn;
  graph_.mutable_node(a_).attributes = turn.attributes;
  Begin();
  ExpectApplied(propose());
}

TEST_F(SheetConstantsTest, NamedNeedsACheckerAndAReason) {
  const auto propose = [&](const std::string& reason, VerifyMove verify) {
    Proposal p = Replace();
    ConstantMove move = {c_, ValueId(), Kind::kUnneeded, reason};
    move.why = Unneeded::kNamed;
    move.verify = std::move(verify);
    p.sheet.constants = {move};
    return p;
  };
  const auto verify = [&](const Graph& graph, const ConstantMove& move) {
    return graph.value(move.from).constant->integer(0) == 1
               ? std::string()
               : std::string("does not begin with 1");
  };
  EXPECT_EQ(SheetFaultOf(propose("begins", nullptr)),
            "constant 'c' goes by 'begins' without a checker");
  EXPECT_EQ(SheetFaultOf(propose("", verify)),
            "constant 'c' goes without a reason");
  EXPECT_EQ(SheetFaultOf(propose("begins", verify)), "");
  UseConstant(MakeIntegerTensor(ElementType::i8, {1}, {2}));
  ExpectRefused(propose("begins", verify),
                "constant 'c' does not begin with 1");
}

TEST_F(SheetConstantsTest, AbsorbedNowhere) {
  UseNumber(0.25);
  Proposal p = Replace();
  p.sheet.constants = {Absorbed(p, {})};
  ExpectRefused(
      p, "constant 'c' is not in what it is said to be absorbed by, 'y.1'");
}

TEST_F(SheetConstantsTest, AbsorbedByWhatGoesAway) {
  UseNumber(0.25);
  Proposal p = Replace();
  p.sheet.constants = {Absorbed(p, {Slot::Kind::kScales})};
  p.sheet.constants[0].to = y_;
  ExpectRefused(p, "constant 'c' is absorbed by a value that goes away");
}

TEST_F(SheetConstantsTest, Scales) {
  ExpectInSlot(0.25, 0.26, {Slot::Kind::kScales});
}

TEST_F(SheetConstantsTest, ZeroPoints) {
  ExpectInSlot(-4, 4, {Slot::Kind::kZeroPoints});
}

TEST_F(SheetConstantsTest, ClipBounds) {
  const auto clip = [](Node& node) {
    node.steps.push_back({Step::Kind::kClip, {}, 0, 6, 0});
  };
  ExpectInSlot(6, 0, {Slot::Kind::kClipHigh, 0}, clip);
  ExpectInSlot(0, 6, {Slot::Kind::kClipLow, 0}, clip);
  UseNumber(6);
  Proposal p = Replace();
  clip(p.added[0]);
  p.sheet.constants = {Absorbed(p, {Slot::Kind::kClipHigh, 1})};
  EXPECT_NE(SheetFaultOf(p), "");  // there is no second step
}

TEST_F(SheetConstantsTest, Attributes) {
  ExpectInSlot(2, 1, {Slot::Kind::kAttribute, -1, "alpha"}, [](Node& node) {
    node.attributes["alpha"] = 2.0;
    node.attributes["beta"] = 1.0;
  });
}

TEST_F(SheetConstantsTest, CodeRange) {
  for (const bool low : {false, true}) {
    for (const double bound : {3.0, 2.0}) {
      UseNumber(bound);
      Proposal p = Replace();
      Encoding& e = *graph_.mutable_value(p.sheet.results[0].to).type.encoding;
      (low ? e.code_low : e.code_high) = 2;
      p.sheet.constants = {
          Absorbed(p, {low ? Slot::Kind::kCodeLow : Slot::Kind::kCodeHigh})};
      EXPECT_EQ(SheetFaultOf(p).empty(), bound == 2) << low;
    }
  }
}

TEST_F(SheetConstantsTest, CodeRangeThatWasNarrowerAlready) {
  graph_.mutable_value(y_).type.encoding->code_high = 2;
  UseNumber(3);
  Proposal p = Replace();
  p.sheet.constants = {Absorbed(p, {Slot::Kind::kCodeHigh})};
  EXPECT_EQ(SheetFaultOf(p), "");
  UseNumber(1);
  p.sheet.constants = {Absorbed(p, {Slot::Kind::kCodeHigh})};
  EXPECT_NE(SheetFaultOf(p), "");
}

TEST_F(SheetConstantsTest, ShapeAsReshapeReadsIt) {
  for (const auto& [sizes, good] :
       {std::pair(std::vector<int64_t>{2, 3}, true),
        std::pair(std::vector<int64_t>{0, -1}, true),
        std::pair(std::vector<int64_t>{3, 2}, false),
        std::pair(std::vector<int64_t>{-1, -1}, false)}) {
    UseConstant(MakeIntegerTensor(ElementType::i64, {2}, sizes));
    Proposal p = Replace();
    p.sheet.constants = {Absorbed(p, {Slot::Kind::kShape})};
    EXPECT_EQ(SheetFaultOf(p).empty(), good) << sizes[0];
  }
}

TEST_F(SheetConstantsTest, UnneededWithoutAReason) {
  Proposal p = Replace();
  p.sheet.constants = {Move(Kind::kUnneeded, {})};
  ExpectRefused(p, "constant 'c' is dropped without a reason");
}

TEST_F(SheetConstantsTest, DeadAndNeeded) {
  Proposal p = Replace();
  p.sheet.constants = {Move(Kind::kUnneeded, {})};
  p.sheet.constants[0].why = Unneeded::kDead;
  ExpectRefused(p, "constant 'c' is needed by an output");
}

TEST_F(SheetConstantsTest, BoundsThatNoCodePasses) {
  for (const auto& [bound, slot, good] :
       {std::tuple(127.0, Slot::Kind::kCodeHigh, true),
        std::tuple(-128.0, Slot::Kind::kCodeLow, true),
        std::tuple(126.0, Slot::Kind::kCodeHigh, false),
        std::tuple(127.0, Slot::Kind::kCodeLow, false)}) {
    UseNumber(bound);
    Proposal p = Replace();
    p.sheet.constants = {Absorbed(p, {slot})};
    p.sheet.constants[0].kind = Kind::kUnneeded;
    p.sheet.constants[0].why = Unneeded::kWholeRange;
    EXPECT_EQ(SheetFaultOf(p),
              good ? "" : "constant 'c' bounds codes that can come");
  }
}

TEST_F(SheetConstantsTest, NewOnesComeFromSomewhere) {
  const auto propose = [&] {
    Proposal p = Replace(c_);
    p.added[0].operands.push_back(
        New(MakeRealTensor(ElementType::f32, {}, {-1})));
    return p;
  };
  ExpectRefused(propose(), "constant 'new' comes from nowhere");
  Begin();
  for (const double number : {1.0, -1.0}) {
    Begin();
    Proposal p = propose();
    ConstantMove made = {ValueId(), p.added[0].operands.back(), Kind::kMade};
    made.number = number;
    p.sheet.constants = {made};
    if (number == -1) {
      ExpectApplied(p);
    } else {
      ExpectRefused(p,
                    "constant 'new' is not the number that the sheet says in "
                    "'new'");
    }
  }
}

TEST_F(SheetConstantsTest, NewOnesMadeOfAQuantization) {
  for (const double number : {0.26, 0.25}) {
    Begin();
    Proposal p = Replace(c_);
    const ValueId fresh = New(MakeRealTensor(ElementType::f32, {}, {number}));
    p.added[0].operands.push_back(fresh);
    ConstantMove made = {ValueId(), fresh, Kind::kMade};
    made.slot = {Slot::Kind::kScales};
    made.slot.of = p.sheet.results[0].to;
    p.sheet.constants = {made};
    if (number == 0.25) {
      ExpectApplied(p);
    } else {
      ExpectRefused(p, "constant 'new' is not what it is made of");
    }
  }
}

}  // namespace
}  // namespace fold
