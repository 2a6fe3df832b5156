// The quantizations of a migration sheet: each has one destination where its
// numbers are found, with its axis where the data of that axis went; and no new
// value has one out of nowhere.
#include <algorithm>
#include <set>

#include "compiler/ir/derivation.h"
#include "compiler/ir/sheet_view.h"

namespace fold {
namespace {

using Destination = EncodingMove::Destination;
using Numbers = std::vector<double>;

// `to` says what `from` says; it may know more of which codes can come: its
// range may be a part of that of `from`.
bool Carries(const Encoding& to, const Encoding& from) {
  return to.scales == from.scales && to.zero_points == from.zero_points &&
         to.axis == from.axis && to.block == from.block &&
         to.rounding == from.rounding &&
         (!from.code_low || (to.code_low && *to.code_low >= *from.code_low)) &&
         (!from.code_high ||
          (to.code_high && *to.code_high <= *from.code_high));
}

// Equal but for the axis.
bool SameParameters(Encoding from, const Encoding& to) {
  from.axis = to.axis;
  return Carries(to, from);
}

const Encoding* EncodingAt(const SheetView& view, ValueId id) {
  if (!view.Known(id)) return nullptr;
  const auto& encoding = view.graph.value(id).type.encoding;
  return encoding ? &*encoding : nullptr;
}

class EncodingCheck {
 public:
  explicit EncodingCheck(const SheetView& view)
      : view_(view), graph_(view.graph) {}

  std::string Fault(const EncodingMove& move) const {
    const std::string what =
        "the quantization of '" + view_.Name(move.from) + "' ";
    const Encoding* from = EncodingAt(view_, move.from);
    if (!from) return what + "is moved, and it has none";
    if (!Concerns(move.from)) {
      return what + "is moved, and no removed node reads or makes it";
    }
    if (move.destination == Destination::kDead) {
      return view_.IsDead() ? "" : what + "is needed by an output";
    }
    if (!view_.Stays(move.to)) return what + "goes to a value that goes away";
    if (!view_.IsTouched(move.to)) {
      return what + "goes to '" + view_.Name(move.to) +
             "', which no new node reads or makes";
    }
    if (move.destination == Destination::kAttribute) {
      return AttributeFault(*from, move, what);
    }
    if (move.destination == Destination::kNumbers) {
      return NumbersLiveOn(*from, move)
                 ? ""
                 : what + "does not give the numbers of '" +
                       view_.Name(move.to) + "'";
    }
    const Encoding* to = EncodingAt(view_, move.to);
    if (move.destination == Destination::kMerged) {
      return to && *to == *from
                 ? ""
                 : what + "is not the one of '" + view_.Name(move.to) + "'";
    }
    if (!to || !SameParameters(*from, *to)) {
      return what + "is not in the type of '" + view_.Name(move.to) + "'";
    }
    return AxisFault(*from, *to, move, what);
  }

 private:
  // Removed nodes read or make it, or a clone of it goes to a new node.
  bool Concerns(ValueId id) const {
    if (view_.PlacesOf(id) > 0 || view_.Goes(id)) return true;
    const auto& constants = view_.sheet.constants;
    return std::any_of(constants.begin(), constants.end(),
                       [&](const ConstantMove& move) {
                         return move.from == id &&
                                (move.kind == ConstantMove::Kind::kCloned ||
                                 move.kind == ConstantMove::Kind::kTransformed);
                       });
  }

  // The real numbers behind the codes of a constant are those of a new
  // constant, element by element.
  bool NumbersLiveOn(const Encoding& from, const EncodingMove& move) const {
    constexpr int kMostBytes = 2;  // wider codes have no exact double
    if (!graph_.IsConstant(move.from) || !graph_.IsConstant(move.to) ||
        from.block > 0) {
      return false;
    }
    const Tensor& codes = *graph_.value(move.from).constant;
    const Tensor& reals = *graph_.value(move.to).constant;
    if (ElementSize(codes.type) > kMostBytes || !IsFloat(reals.type) ||
        reals.size() != codes.size()) {
      return false;
    }
    const Numbers numbers = RealNumbersOf(codes, from);
    for (int64_t i = 0; i < reals.size(); ++i) {
      if (reals.real(i) != numbers[i]) return false;
    }
    return true;
  }

  std::string AttributeFault(const Encoding& from, const EncodingMove& move,
                             const std::string& what) const {
    const Node* node = view_.MakerOf(move.to);
    const auto has = [&](const std::string& key, const Numbers& numbers) {
      if (!node) return false;
      if (numbers.size() == 1) {
        const auto whole = static_cast<int64_t>(numbers[0]);
        if (node->attribute<double>(key, numbers[0] + 1) == numbers[0] ||
            node->attribute<int64_t>(key, whole + 1) == whole) {
          return true;
        }
      }
      const auto ints = node->attribute<std::vector<int64_t>>(key, {});
      return node->attribute<Numbers>(key, {}) == numbers ||
             Numbers(ints.begin(), ints.end()) == numbers;
    };
    const std::string where =
        " of the node that makes '" + view_.Name(move.to) + "'";
    if (!has(move.attribute, from.scales)) {
      return what + "is not in attribute '" + move.attribute + "'" + where;
    }
    const bool zero =
        std::all_of(from.zero_points.begin(), from.zero_points.end(),
                    [](int64_t z) { return z == 0; });
    if (zero && move.zero_attribute.empty()) return "";
    return has(move.zero_attribute,
               Numbers(from.zero_points.begin(), from.zero_points.end()))
               ? ""
               : what + "has zero points, and they are not in attribute '" +
                     move.zero_attribute + "'" + where;
  }

  std::string AxisFault(const Encoding& from, const Encoding& to,
                        const EncodingMove& move,
                        const std::string& what) const {
    if (from.axis != move.from_axis || to.axis != move.to_axis) {
      return what + "is declared on another axis than it has";
    }
    if (from.per_tensor() != to.per_tensor()) {
      return what + "is per tensor on one side alone";
    }
    if (from.per_tensor()) return "";
    const Shape &old = graph_.value(move.from).type.shape,
                &shape = graph_.value(move.to).type.shape;
    if (to.axis >= static_cast<int>(shape.size()) ||
        from.axis >= static_cast<int>(old.size()) ||
        shape[to.axis] != old[from.axis]) {
      return what + "does not fit the axis it moves to";
    }
    const int axis = AxisOfData(from.axis, move);
    return axis == to.axis
               ? ""
               : what + "is on axis " + std::to_string(to.axis) + " of '" +
                     view_.Name(move.to) + "', and its data is " +
                     (axis < 0 ? "not known to be there"
                               : "on axis " + std::to_string(axis));
  }

  // Where the data that lay along `axis` of `from` lies in `to`; -1 if that
  // cannot be said.
  int AxisOfData(int axis, const EncodingMove& move) const {
    const Shape &from = graph_.value(move.from).type.shape,
                &to = graph_.value(move.to).type.shape;
    for (const ConstantMove& constant : view_.sheet.constants) {
      if (constant.from == move.from && constant.to == move.to) {
        return AxisBehind(from, axis, constant.how, to, graph_, view_.ops);
      }
    }
    const auto olds = Origins(move.from, axis), news = Origins(move.to, -1);
    for (const Origin& a : olds) {
      for (const Origin& b : news) {
        if (a.value == b.value) return Forward(b, a.axis);
      }
    }
    return from == to ? axis : -1;
  }

  // A value that another one has been permuted from: where its axis lies in
  // it, and the permutations in between, the last one first.
  struct Origin {
    ValueId value;
    int axis;
    std::vector<std::vector<int64_t>> perms;
  };

  static int Forward(const Origin& origin, int axis) {
    for (auto perm = origin.perms.rbegin(); perm != origin.perms.rend();
         ++perm) {
      const auto at = std::find(perm->begin(), perm->end(), axis);
      if (at == perm->end()) return -1;
      axis = static_cast<int>(at - perm->begin());
    }
    return axis;
  }

  // `id`, and what it is permuted from, by new nodes and by old ones.
  std::vector<Origin> Origins(ValueId id, int axis) const {
    std::vector<Origin> found = {{id, axis, {}}};
    constexpr size_t kDeepest = 8;
    while (view_.ops && found.size() < kDeepest) {
      Origin origin = found.back();
      const Node* node = view_.MakerOf(origin.value);
      const NodeId producer = graph_.value(origin.value).producer;
      if (!node && producer.valid()) node = &graph_.node(producer);
      if (!node || node->operands.empty()) break;
      const auto perm = view_.ops->Permutation(graph_, *node);
      if (!perm) break;
      if (origin.axis >= 0) {
        if (origin.axis >= static_cast<int>(perm->size())) break;
        origin.axis = static_cast<int>((*perm)[origin.axis]);
      }
      origin.perms.push_back(*perm);
      origin.value = node->operands[0];
      found.push_back(origin);
    }
    return found;
  }

  const SheetView& view_;
  const Graph& graph_;
};

// The encoding of `id`, which removed nodes read or made, lives on.
std::string DestinationFault(const SheetView& view, ValueId id) {
  const Encoding* from = EncodingAt(view, id);
  if (!from || view.IsRead(id)) return "";
  const ResultMove* result = view.ResultMoveOf(id);
  const auto moved = [&](ValueId value) {
    return std::any_of(
        view.sheet.encodings.begin(), view.sheet.encodings.end(),
        [&](const EncodingMove& move) { return move.from == value; });
  };
  if (result) {
    const Encoding* to = EncodingAt(view, result->to);
    return (to && Carries(*to, *from)) || moved(id)
               ? ""
               : "result '" + view.Name(id) + "' loses its quantization";
  }
  if (view.IsReadElsewhere(id)) return "";
  for (const ResultMove& move : view.sheet.results) {
    if (move.to == id) return "";  // whoever read the result reads it now
  }
  return moved(id)
             ? ""
             : "the quantization of '" + view.Name(id) + "' has no destination";
}

// The scales and zero points near the change, each list by itself: those of
// `count` numbers, or of one.
class NearbyNumbers {
 public:
  NearbyNumbers(const SheetView& view, size_t count)
      : count_(static_cast<int64_t>(count)) {
    for (NodeId id : view.nearby()) {
      for (const auto* values :
           {&view.graph.node(id).operands, &view.graph.node(id).results}) {
        for (ValueId v : *values) Add(view, v);
      }
    }
  }

  // Lists near by, the products and quotients of two of them, or zeros.
  bool Have(const Numbers& numbers) const {
    const bool zeros = std::all_of(numbers.begin(), numbers.end(),
                                   [](double x) { return x == 0; });
    if (zeros) return true;
    for (const Numbers& a : lists_) {
      if (Same(
              numbers, a, [](double x, double) { return x; }, a))
        return true;
      for (const Numbers& b : lists_) {
        if (Same(
                numbers, a, [](double x, double y) { return x * y; }, b) ||
            Same(
                numbers, a, [](double x, double y) { return x / y; }, b)) {
          return true;
        }
      }
    }
    return false;
  }

 private:
  void Add(const SheetView& view, ValueId id) {
    if (!view.Known(id)) return;
    const Value& value = view.graph.value(id);
    if (value.type.encoding) {
      const Encoding& e = *value.type.encoding;
      lists_.insert(e.scales);
      lists_.insert(Numbers(e.zero_points.begin(), e.zero_points.end()));
    }
    if (value.constant &&
        (value.constant->size() == 1 || value.constant->size() == count_)) {
      Numbers numbers(value.constant->size());
      for (int64_t i = 0; i < value.constant->size(); ++i) {
        numbers[i] = value.constant->real(i);
      }
      lists_.insert(numbers);
    }
  }

  template <typename Combine>
  static bool Same(const Numbers& numbers, const Numbers& a, Combine combine,
                   const Numbers& b) {
    if (a.empty() || b.empty()) return false;
    const auto fits = [&](const Numbers& list) {
      return list.size() == 1 || numbers.size() == 1 ||
             list.size() == numbers.size();
    };
    if (!fits(a) || !fits(b)) return false;
    const size_t count = std::max({numbers.size(), a.size(), b.size()});
    const auto at = [](const Numbers& list, size_t i) {
      return list[list.size() == 1 ? 0 : i];
    };
    for (size_t i = 0; i < count; ++i) {
      if (at(numbers, i) != combine(at(a, i), at(b, i))) return false;
    }
    return true;
  }

  const int64_t count_;
  std::set<Numbers> lists_;
};

// A removed node reads or makes a value with these parameters.
bool IsOfNeighbour(const SheetView& view, const Encoding& encoding) {
  for (NodeId id : view.nearby()) {
    for (const auto* values :
         {&view.graph.node(id).operands, &view.graph.node(id).results}) {
      for (ValueId v : *values) {
        const Encoding* e = EncodingAt(view, v);
        if (e && e->scales == encoding.scales &&
            e->zero_points == encoding.zero_points) {
          return true;
        }
      }
    }
  }
  return false;
}

// What a new node or a new constant carries comes from what was there.
std::string OriginFault(const SheetView& view) {
  std::set<ValueId> fresh;
  for (const Node& node : view.proposal.added) {
    fresh.insert(node.results.begin(), node.results.end());
    for (ValueId v : node.operands) {
      if (v.valid() && view.IsFreshConstant(v)) fresh.insert(v);
    }
  }
  for (ValueId v : fresh) {
    const Encoding* encoding = EncodingAt(view, v);
    if (!encoding || IsOfNeighbour(view, *encoding)) continue;
    const NearbyNumbers near(view, encoding->scales.size());
    const bool known = near.Have(encoding->scales) &&
                       near.Have(Numbers(encoding->zero_points.begin(),
                                         encoding->zero_points.end()));
    if (!known) {
      return "the quantization of '" + view.Name(v) + "' comes from nowhere";
    }
  }
  return "";
}

}  // namespace

std::string EncodingsFault(const SheetView& view) {
  const EncodingCheck check(view);
  std::set<ValueId> said;
  for (const EncodingMove& move : view.sheet.encodings) {
    std::string fault = check.Fault(move);
    if (!fault.empty()) return fault;
    if (!said.insert(move.from).second) {
      return "the quantization of '" + view.Name(move.from) +
             "' has two destinations";
    }
  }
  for (NodeId id : view.proposal.removed) {
    const Node& node = view.graph.node(id);
    for (const auto* values : {&node.results, &node.operands}) {
      for (ValueId v : *values) {
        std::string fault = DestinationFault(view, v);
        if (!fault.empty()) return fault;
      }
    }
  }
  return OriginFault(view);
}

}  // namespace fold
