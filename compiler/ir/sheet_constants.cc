// The constants of a migration sheet: each that the removed nodes read is found
// where the sheet says, derived again, and each new one comes from somewhere.
#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/ir/derivation.h"
#include "compiler/ir/sheet_view.h"

namespace fold {
namespace {

using Kind = ConstantMove::Kind;
using Numbers = std::vector<double>;

Numbers NumbersOf(const Tensor& tensor) {
  Numbers numbers(tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i) numbers[i] = tensor.real(i);
  return numbers;
}

template <typename T>
Numbers AsNumbers(const std::vector<T>& values) {
  return Numbers(values.begin(), values.end());
}

// Equal, or one of them is one number that the other repeats.
bool SameOrRepeated(const Numbers& a, const Numbers& b) {
  if (a.empty() || b.empty()) return a.empty() && b.empty();
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return false;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (a[a.size() == 1 ? 0 : i] != b[b.size() == 1 ? 0 : i]) return false;
  }
  return true;
}

// Numbers of a node's attribute; empty if it has none.
Numbers AttributeNumbers(const Node& node, const std::string& key) {
  const auto at = node.attributes.find(key);
  if (at == node.attributes.end()) return {};
  if (const auto* i = std::get_if<int64_t>(&at->second)) {
    return {static_cast<double>(*i)};
  }
  if (const auto* d = std::get_if<double>(&at->second)) return {*d};
  if (const auto* is = std::get_if<std::vector<int64_t>>(&at->second)) {
    return AsNumbers(*is);
  }
  if (const auto* ds = std::get_if<std::vector<double>>(&at->second)) {
    return *ds;
  }
  return {};
}

class ConstantCheck {
 public:
  explicit ConstantCheck(const SheetView& view)
      : view_(view), graph_(view.graph) {}

  std::string Fault(const ConstantMove& move) const {
    std::string fault = MembershipFault(move);
    if (!fault.empty()) return fault;
    const std::string what = move.kind == Kind::kMade
                                 ? "constant '" + view_.Name(move.to) + "' "
                                 : "constant '" + view_.Name(move.from) + "' ";
    switch (move.kind) {
      case Kind::kMoved:
        return move.to == move.from && view_.IsTouched(move.to)
                   ? ""
                   : what + "is declared moved and read by no new node";
      case Kind::kCloned:
      case Kind::kTransformed:
      case Kind::kMade:
        return NewConstantFault(move, what);
      case Kind::kAbsorbed:
        return AbsorbedFault(move, what);
      case Kind::kUnneeded:
        return UnneededFault(move, what);
    }
    return "";
  }

 private:
  // The item is about a constant that the change has to do with.
  std::string MembershipFault(const ConstantMove& move) const {
    if (move.kind == Kind::kMade) {
      return move.from.valid() ? "constant '" + view_.Name(move.to) +
                                     "' is made of nothing and has an origin"
                               : "";
    }
    if (!view_.Known(move.from) || !graph_.IsConstant(move.from)) {
      return "the sheet speaks of '" + view_.Name(move.from) +
             "', which is no constant";
    }
    const bool copied =
        (move.kind == Kind::kCloned || move.kind == Kind::kTransformed) &&
        NearbyReads(move.from);
    return view_.PlacesOf(move.from) > 0 || copied || IsMadeOnTheWay(move.from)
               ? ""
               : "the sheet speaks of constant '" + view_.Name(move.from) +
                     "', which no removed node reads";
  }

  // A new constant that another one comes from.
  bool IsMadeOnTheWay(ValueId id) const {
    const auto& moves = view_.sheet.constants;
    const auto is = [&](Kind kind) {
      return kind == Kind::kCloned || kind == Kind::kTransformed ||
             kind == Kind::kMade;
    };
    const auto made = [&](const ConstantMove& m) {
      return m.to == id && is(m.kind);
    };
    const auto left = [&](const ConstantMove& m) {
      return m.from == id && is(m.kind);
    };
    return view_.IsFreshConstant(id) &&
           std::any_of(moves.begin(), moves.end(), made) &&
           std::any_of(moves.begin(), moves.end(), left);
  }

  bool NearbyReads(ValueId id) const {
    const auto& nearby = view_.nearby();
    return std::any_of(nearby.begin(), nearby.end(), [&](NodeId node) {
      const auto& operands = graph_.node(node).operands;
      return std::count(operands.begin(), operands.end(), id) > 0;
    });
  }

  std::string NewConstantFault(const ConstantMove& move,
                               const std::string& what) const {
    if (!view_.Known(move.to) || !graph_.IsConstant(move.to)) {
      return what + "is transformed to nothing";
    }
    if (!view_.IsTouched(move.to) && !IsMadeOnTheWay(move.to)) {
      return what + "goes to '" + view_.Name(move.to) +
             "', which no new node reads";
    }
    const Value& to = graph_.value(move.to);
    if (move.kind == Kind::kCloned) {
      return SameNumbers(*graph_.value(move.from).constant, *to.constant)
                 ? ""
                 : what + "differs from its clone";
    }
    if (move.kind == Kind::kTransformed && move.how.empty()) {
      return what + "is transformed, and the sheet does not say how";
    }
    if (move.kind == Kind::kMade && move.slot.kind != Slot::Kind::kNone) {
      ConstantMove said = move;
      said.to = move.slot.of;
      const bool holds =
          view_.Stays(said.to) && view_.IsTouched(said.to) &&
          HasNumbers(said, NumbersOf(*to.constant), graph_.value(said.to).type);
      return holds ? "" : what + "is not what it is made of";
    }
    std::string fault;
    const TensorPtr derived = Carried(move, to.type, &fault);
    if (!fault.empty()) return what + fault;
    if (!derived) return "";  // named, and verified
    const bool same =
        move.kind == Kind::kMade
            ? SameOrRepeated(NumbersOf(*derived), NumbersOf(*to.constant))
            : SameNumbers(*derived, *to.constant);
    return same ? ""
                : what + "is not " + How(move) + " in '" + view_.Name(move.to) +
                      "'";
  }

  static std::string How(const ConstantMove& move) {
    std::string text;
    for (const Derivation& step : move.how) {
      text +=
          (text.empty() ? "" : ", ") + std::string(DerivationName(step.kind));
    }
    return text.empty() ? "the number that the sheet says" : text;
  }

  // `move.from` taken through all of `how`; null with no fault where the last
  // step is named and verified.
  TensorPtr Carried(const ConstantMove& move, const TensorType& goal,
                    std::string* fault) const {
    TensorPtr tensor =
        move.from.valid() ? graph_.value(move.from).constant
                          : MakeRealTensor(ElementType::f64, {}, {move.number});
    for (const Derivation& step : move.how) {
      if (step.kind == Derivation::Kind::kNamed) {
        *fault = VerifierFault(move);
        return nullptr;
      }
      if (step.kind == Derivation::Kind::kEvaluated) {
        tensor = Evaluated(move, step, fault);
      } else {
        tensor = Derive(*tensor, step, goal, graph_);
      }
      if (!tensor) {
        if (fault->empty()) {
          *fault = "cannot be " + std::string(DerivationName(step.kind));
        }
        return nullptr;
      }
    }
    return tensor;
  }

  std::string VerifierFault(const ConstantMove& move) const {
    if (move.reason.empty()) return "goes without a reason";
    if (!move.verify) return "goes by '" + move.reason + "' without a checker";
    return move.verify(graph_, move);
  }

  // What the step's node gives: a node that reads the constant and does what a
  // removed node does.
  TensorPtr Evaluated(const ConstantMove& move, const Derivation& step,
                      std::string* fault) const {
    const auto& operands = step.node.operands;
    const auto& removed = view_.proposal.removed;
    const bool does =
        std::any_of(removed.begin(), removed.end(), [&](NodeId id) {
          const Node& node = graph_.node(id);
          return node.op == step.node.op &&
                 node.attributes == step.node.attributes;
        });
    if (!does || std::count(operands.begin(), operands.end(), move.from) == 0) {
      *fault = "is evaluated by a node that is not removed or does not read it";
      return nullptr;
    }
    return view_.ops ? view_.ops->Evaluate(graph_, step.node) : nullptr;
  }

  std::string AbsorbedFault(const ConstantMove& move,
                            const std::string& what) const {
    if (!view_.Stays(move.to) || !view_.IsTouched(move.to)) {
      return what + "is absorbed by a value that goes away";
    }
    const TensorType& type = graph_.value(move.to).type;
    TensorType goal = type;
    goal.shape = graph_.value(move.from).type.shape;
    std::string fault;
    const TensorPtr tensor = Carried(move, goal, &fault);
    if (!fault.empty()) return what + fault;
    const Numbers from = tensor ? NumbersOf(*tensor) : Numbers();
    return HasNumbers(move, from, type)
               ? ""
               : what + "is not in what it is said to be absorbed by, '" +
                     view_.Name(move.to) + "'";
  }

  bool HasNumbers(const ConstantMove& move, const Numbers& from,
                  const TensorType& type) const {
    const Slot& slot = move.slot;
    const bool has = type.encoding.has_value();
    switch (slot.kind) {
      case Slot::Kind::kNone:
        return false;
      case Slot::Kind::kScales:
        return has && SameOrRepeated(from, type.encoding->scales);
      case Slot::Kind::kZeroPoints:
        return has &&
               SameOrRepeated(from, AsNumbers(type.encoding->zero_points));
      case Slot::Kind::kCodeLow:
      case Slot::Kind::kCodeHigh:
        return has && IsRangeEnd(move, from, *type.encoding);
      case Slot::Kind::kShape:
        return IsShape(from, type.shape);
      default:
        break;
    }
    const Node* node = view_.MakerOf(move.to);
    if (!node) return false;
    if (slot.kind == Slot::Kind::kAttribute) {
      const Numbers numbers = AttributeNumbers(*node, slot.attribute);
      return !numbers.empty() && numbers == from;
    }
    if (slot.step < 0 || slot.step >= static_cast<int>(node->steps.size()) ||
        node->steps[slot.step].kind != Step::Kind::kClip) {
      return false;
    }
    const Step& step = node->steps[slot.step];
    return from ==
           Numbers{slot.kind == Slot::Kind::kClipLow ? step.low : step.high};
  }

  // The bound is the end of the range, or the range of what the value stands
  // for ended sooner already.
  bool IsRangeEnd(const ConstantMove& move, const Numbers& from,
                  const Encoding& to) const {
    if (from.size() != 1) return false;
    const bool low = move.slot.kind == Slot::Kind::kCodeLow;
    const auto& end = low ? to.code_low : to.code_high;
    if (!end) return false;
    if (static_cast<double>(*end) == from[0]) return true;
    for (const Encoding* old : OldEncodings(move.to)) {
      const auto& before = low ? old->code_low : old->code_high;
      if (!before || *before != *end) continue;
      const auto bound = static_cast<double>(*before);
      if (low ? bound >= from[0] : bound <= from[0]) return true;
    }
    return false;
  }

  // Encodings that the sheet says to have gone into the type of `to`.
  std::vector<const Encoding*> OldEncodings(ValueId to) const {
    std::vector<const Encoding*> found;
    const auto add = [&](ValueId from) {
      if (!view_.Known(from)) return;
      const auto& encoding = graph_.value(from).type.encoding;
      if (encoding) found.push_back(&*encoding);
    };
    for (const ResultMove& move : view_.sheet.results) {
      if (move.to == to) add(move.from);
    }
    for (const EncodingMove& move : view_.sheet.encodings) {
      if (move.to == to) add(move.from);
    }
    return found;
  }

  // As Reshape reads its operand: 0 keeps a size, -1 is what is left over.
  static bool IsShape(const Numbers& from, const Shape& shape) {
    if (from.size() != shape.size()) return false;
    int open = 0;
    for (size_t i = 0; i < from.size(); ++i) {
      open += from[i] == -1;
      if (from[i] > 0 && from[i] != static_cast<double>(shape[i])) return false;
      if (from[i] < -1) return false;
    }
    return open <= 1;
  }

  std::string UnneededFault(const ConstantMove& move,
                            const std::string& what) const {
    switch (move.why) {
      case Unneeded::kUnsaid:
        return what + "is dropped without a reason";
      case Unneeded::kDead:
        return view_.IsDead() ? "" : what + "is needed by an output";
      case Unneeded::kWholeRange:
        return IsPassedByNone(move) ? "" : what + "bounds codes that can come";
      case Unneeded::kNamed: {
        const std::string fault = VerifierFault(move);
        return fault.empty() ? "" : what + fault;
      }
    }
    return "";
  }

  bool IsPassedByNone(const ConstantMove& move) const {
    if (!view_.Stays(move.to) || !view_.IsTouched(move.to)) return false;
    const ElementType type = graph_.value(move.to).type.element;
    const Tensor& bound = *graph_.value(move.from).constant;
    if (!IsInteger(type) || ElementSize(type) > 4 || bound.size() != 1) {
      return false;
    }
    const double number = bound.real(0);
    if (move.slot.kind == Slot::Kind::kCodeLow) {
      return number <= static_cast<double>(LowestCode(type));
    }
    return move.slot.kind == Slot::Kind::kCodeHigh &&
           number >= static_cast<double>(HighestCode(type));
  }

  const SheetView& view_;
  const Graph& graph_;
};

bool SameItem(const ConstantMove& a, const ConstantMove& b) {
  return a.from == b.from && a.to == b.to && a.kind == b.kind &&
         a.slot.kind == b.slot.kind && a.slot.attribute == b.slot.attribute;
}

// One destination for each place that a constant was read at, no item twice.
std::string RepetitionFault(const SheetView& view) {
  const auto& moves = view.sheet.constants;
  for (size_t i = 0; i < moves.size(); ++i) {
    int items = 0;
    for (size_t j = 0; j < moves.size(); ++j) {
      if (i != j && SameItem(moves[i], moves[j])) {
        return "constant '" + view.Name(moves[i].from) + "' is said twice";
      }
      items += moves[i].from.valid() && moves[j].from == moves[i].from &&
               moves[j].kind != Kind::kCloned;
    }
    if (items > 1 && items > view.PlacesOf(moves[i].from)) {
      return "constant '" + view.Name(moves[i].from) +
             "' has more destinations than readers";
    }
  }
  return "";
}

}  // namespace

std::string ConstantsFault(const SheetView& view) {
  const ConstantCheck check(view);
  std::set<ValueId> said, made;
  for (const ConstantMove& move : view.sheet.constants) {
    std::string fault = check.Fault(move);
    if (!fault.empty()) return fault;
    said.insert(move.from);
    made.insert(move.to);
  }
  for (NodeId id : view.proposal.removed) {
    for (ValueId v : view.graph.node(id).operands) {
      if (!v.valid() || !view.graph.IsConstant(v) || view.IsRead(v)) continue;
      if (!said.count(v)) {
        return "constant '" + view.Name(v) + "' has no destination";
      }
    }
  }
  for (const Node& node : view.proposal.added) {
    for (ValueId v : node.operands) {
      if (v.valid() && view.IsFreshConstant(v) && !made.count(v)) {
        return "constant '" + view.Name(v) + "' comes from nowhere";
      }
    }
  }
  return RepetitionFault(view);
}

}  // namespace fold
