#include "compiler/annotate/written_chain.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/ir/rewriter.h"
#include "compiler/ops/op_spec.h"

namespace fold {
namespace {

using Kind = WrittenStep::Kind;

constexpr size_t kMostLinks = 12;  // on either side of the rounding

// Nodes that are one step of a chain together, with the value before them.
struct Link {
  std::vector<NodeId> nodes;
  std::vector<WrittenStep> steps;
  int64_t axis = -1;  // that the steps' numbers run along
  ValueId before, after;
};

// `constant` against `shape`: one number, or one for each index of an axis.
struct Numbers {
  std::vector<double> numbers;
  int64_t axis = -1;
};

std::optional<Numbers> NumbersOf(const Tensor& constant, const Shape& shape) {
  const size_t rank = shape.size();
  if (constant.size() == 0 || constant.shape.size() > rank ||
      constant.type == ElementType::i64 || constant.type == ElementType::u64) {
    return std::nullopt;
  }
  Numbers found;
  for (int64_t i = 0; i < constant.size(); ++i) {
    const double number = constant.real(i);
    if (std::isnan(number)) return std::nullopt;
    found.numbers.push_back(number);
  }
  const double first = found.numbers[0];
  if (std::all_of(found.numbers.begin(), found.numbers.end(),
                  [&](double number) { return number == first; })) {
    found.numbers.resize(1);
    return found;
  }
  for (size_t d = 0; d < constant.shape.size(); ++d) {
    if (constant.shape[d] == 1) continue;
    const size_t at = rank - constant.shape.size() + d;
    if (found.axis >= 0 || constant.shape[d] != shape[at]) return std::nullopt;
    found.axis = static_cast<int64_t>(at);
  }
  return found;
}

class Finder {
 public:
  Finder(const Graph& graph, NodeId rounding)
      : graph_(graph), rounding_(rounding) {}

  std::optional<WrittenChain> Find(std::string* why) {
    const Node& node = graph_.node(rounding_);
    middle_ = {{rounding_},
               {RoundingStep(node)},
               -1,
               node.operands[0],
               node.results[0]};
    Behind();
    Before();
    // A rounding alone is none of our business.
    if (before_.empty() && behind_.empty()) return std::nullopt;
    auto chain = Choose(why);
    if (!chain) return std::nullopt;
    if (!Closed(*chain, why)) return std::nullopt;
    chain->grid.encoding.source = UserName(graph_, rounding_);
    return chain;
  }

 private:
  const Shape& ShapeOf(ValueId id) const { return graph_.value(id).type.shape; }

  WrittenStep RoundingStep(const Node& node) const {
    WrittenStep step;
    switch (OpOf(node)) {
      case Op::kFloor:
        step.kind = Kind::kFloor;
        break;
      case Op::kCeil:
        step.kind = Kind::kCeil;
        break;
      case Op::kCast: {
        step.kind = Kind::kToInteger;
        const ElementType type = graph_.value(node.results[0]).type.element;
        constexpr int64_t kWide = int64_t{1} << 32;
        step.low = type == ElementType::i64 ? -kWide : LowestCode(type);
        step.high = type == ElementType::i64 ? kWide : HighestCode(type);
        break;
      }
      default:
        step.kind = Kind::kRound;
        break;
    }
    return step;
  }

  // One step by the constant at `place`.
  bool AddStep(Link& link, Kind kind, const Node& node, size_t place) const {
    const TensorPtr constant = ConstantOf(graph_, node.operands[place]);
    if (!constant) return false;
    const auto found = NumbersOf(*constant, ShapeOf(link.before));
    if (!found || !FitAxis(link.axis, found->axis)) return false;
    WrittenStep step;
    step.kind = kind;
    step.numbers = found->numbers;
    link.steps.push_back(step);
    return true;
  }

  static bool FitAxis(int64_t& axis, int64_t other) {
    if (axis < 0) axis = other;
    return other < 0 || axis == other;
  }

  // The operand of a two-operand node that is the chain's value: the one that
  // is not constant, or has the result's shape.
  size_t DataPlace(const Node& node) const {
    const bool first = ConstantOf(graph_, node.operands[0]) != nullptr;
    const bool second = ConstantOf(graph_, node.operands[1]) != nullptr;
    if (first != second) return first ? 1 : 0;
    const auto small = [&](size_t at) {
      const TensorPtr tensor = ConstantOf(graph_, node.operands[at]);
      return tensor && NumbersOf(*tensor, ShapeOf(node.results[0]));
    };
    return first && !small(1) && small(0) ? 1 : 0;
  }

  // Node `id` as one link, if it is constant arithmetic, a bound or nothing.
  std::optional<Link> LinkOf(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.results.size() != 1 || !node.steps.empty()) return std::nullopt;
    Link link;
    link.nodes = {id};
    link.after = node.results[0];
    const bool two = node.operands.size() == 2 && OpOf(node) != Op::kClip;
    const size_t data = two ? DataPlace(node) : 0;
    if (node.operands.empty() || !node.operands[data].valid()) {
      return std::nullopt;
    }
    link.before = node.operands[data];
    if (ShapeOf(link.before) != ShapeOf(link.after)) return std::nullopt;
    return AddSteps(link, node, two, data) ? std::optional(link) : std::nullopt;
  }

  bool AddSteps(Link& link, const Node& node, bool two, size_t data) const {
    const size_t other = 1 - data;
    // Arithmetic on integers wraps around.
    if (!IsFloat(graph_.value(link.before).type.element) &&
        (OpOf(node) == Op::kMul || OpOf(node) == Op::kDiv ||
         OpOf(node) == Op::kAdd || OpOf(node) == Op::kSub)) {
      return false;
    }
    switch (OpOf(node)) {
      case Op::kIdentity:
        return true;
      case Op::kCast: {
        const ElementType from = graph_.value(link.before).type.element;
        const ElementType to = graph_.value(link.after).type.element;
        // A wider float, or whole numbers that come back.
        if (IsFloat(to)) return from == to || IsInteger(from);
        if (!IsInteger(to) || !IsFloat(from)) return false;
        link.steps.push_back(RoundingStep(node));
        return true;
      }
      case Op::kRound:
      case Op::kFloor:
      case Op::kCeil:
        link.steps.push_back(RoundingStep(node));
        return true;
      case Op::kMul:
        return two && AddStep(link, Kind::kMultiply, node, other);
      case Op::kDiv:
        return two && data == 0 && AddStep(link, Kind::kDivide, node, 1);
      case Op::kAdd:
        return two && AddStep(link, Kind::kAdd, node, other);
      case Op::kSub:
        return two && data == 0 && AddStep(link, Kind::kSubtract, node, 1);
      case Op::kMax:
        return two && AddStep(link, Kind::kAtLeast, node, other);
      case Op::kMin:
        return two && AddStep(link, Kind::kAtMost, node, other);
      case Op::kRelu:
        link.steps.push_back({Kind::kAtLeast, {0.0}, 0, 0});
        return true;
      case Op::kClip:
        return AddBounds(link, node);
      default:
        return false;
    }
  }

  bool AddBounds(Link& link, const Node& clip) const {
    const char* keys[] = {"min", "max"};
    for (size_t i = 0; i < 2; ++i) {
      const Kind kind = i == 0 ? Kind::kAtLeast : Kind::kAtMost;
      if (i + 1 < clip.operands.size() && clip.operands[i + 1].valid()) {
        if (!AddStep(link, kind, clip, i + 1)) return false;
        continue;
      }
      const double none = i == 0 ? -INFINITY : INFINITY;
      const double bound = clip.attribute<double>(keys[i], none);
      if (std::isnan(bound)) return false;
      link.steps.push_back({kind, {bound}, 0, 0});
    }
    return true;
  }

  // x + (q - x), q - x also written as -x + q, is q.
  std::optional<Link> ResidualOf(ValueId q) const {
    const auto users = graph_.UsersOf(q);
    if (users.size() != 1 || !graph_.HasSingleUse(q)) return std::nullopt;
    const Node& inner = graph_.node(users[0]);
    ValueId x;
    Link link;
    if (OpOf(inner) == Op::kSub && inner.operands[0] == q) {
      x = inner.operands[1];
    } else if (OpOf(inner) == Op::kAdd && inner.operands.size() == 2) {
      const ValueId other = inner.operands[inner.operands[0] == q ? 1 : 0];
      const NodeId negation = graph_.value(other).producer;
      if (!negation.valid() || OpOf(graph_.node(negation)) != Op::kNeg ||
          !graph_.HasSingleUse(other)) {
        return std::nullopt;
      }
      x = graph_.node(negation).operands[0];
      link.nodes.push_back(negation);
    } else {
      return std::nullopt;
    }
    const ValueId difference = inner.results[0];
    if (!graph_.HasSingleUse(difference)) return std::nullopt;
    const NodeId last = graph_.UsersOf(difference)[0];
    const Node& outer = graph_.node(last);
    if (OpOf(outer) != Op::kAdd || outer.operands.size() != 2 ||
        outer.operands[outer.operands[0] == difference ? 1 : 0] != x ||
        ShapeOf(outer.results[0]) != ShapeOf(q)) {
      return std::nullopt;
    }
    link.nodes.push_back(users[0]);
    link.nodes.push_back(last);
    link.before = q;
    link.after = outer.results[0];
    return link;
  }

  void Behind() {
    ValueId at = middle_.after;
    while (behind_.size() < kMostLinks && graph_.HasSingleUse(at)) {
      auto link = ResidualOf(at);
      if (!link) {
        link = LinkOf(graph_.UsersOf(at)[0]);
        if (!link || link->before != at) return;
      }
      at = link->after;
      behind_.push_back(std::move(*link));
    }
  }

  void Before() {
    ValueId at = middle_.before;
    while (before_.size() < kMostLinks) {
      const NodeId producer = graph_.value(at).producer;
      if (!producer.valid()) return;
      auto link = LinkOf(producer);
      // Codes of another quantization are not ours.
      if (!link || IsWrittenRounding(graph_, graph_.node(producer))) return;
      at = link->before;
      before_.push_back(std::move(*link));
    }
  }

  // The chain from the `start`th link before the rounding to the `end`th
  // behind it.
  std::optional<WrittenChain> Read(size_t start, size_t end,
                                   std::string* why) const {
    WrittenChain chain;
    int64_t axis = -1;
    bool fits = true;
    const auto add = [&](const Link& link) {
      chain.nodes.insert(chain.nodes.end(), link.nodes.begin(),
                         link.nodes.end());
      chain.steps.insert(chain.steps.end(), link.steps.begin(),
                         link.steps.end());
      fits = fits && FitAxis(axis, link.axis);
    };
    for (size_t i = start; i-- > 0;) add(before_[i]);
    add(middle_);
    for (size_t i = 0; i < end; ++i) add(behind_[i]);
    chain.input = start == 0 ? middle_.before : before_[start - 1].before;
    chain.result = end == 0 ? middle_.after : behind_[end - 1].after;
    if (!fits) {
      *why = "its constants run along different axes";
      return std::nullopt;
    }
    if (!IsFloat(graph_.value(chain.input).type.element) ||
        !IsFloat(graph_.value(chain.result).type.element)) {
      *why = "its result is not a float tensor";
      return std::nullopt;
    }
    auto grid = GridOf(chain.steps, why);
    if (!grid) return std::nullopt;
    chain.grid = std::move(*grid);
    Encoding& e = chain.grid.encoding;
    chain.axis = axis;
    e.axis = static_cast<int>(axis);
    e = SimplifyEncoding(e);
    return chain;
  }

  std::optional<WrittenChain> Choose(std::string* why) const {
    std::optional<WrittenChain> with_factor, of_step_one;
    std::string first_why;
    for (size_t end = behind_.size() + 1; end-- > 0;) {
      for (size_t start = 0; start <= before_.size(); ++start) {
        std::string reason;
        auto chain = Read(start, end, &reason);
        if (!chain) {
          if (end == behind_.size()) first_why = reason;
          continue;
        }
        const auto& scales = chain->grid.encoding.scales;
        const bool one = scales.size() == 1 && scales[0] == 1;
        if (chain->grid.plain() && !one) return chain;
        auto& slot = chain->grid.plain() ? of_step_one : with_factor;
        if (!slot) slot = std::move(chain);
      }
    }
    if (with_factor) return with_factor;
    *why = first_why;
    return of_step_one;
  }

  // Nobody else reads what lies within the chain.
  bool Closed(WrittenChain& chain, std::string* why) const {
    const std::set<NodeId> inside(chain.nodes.begin(), chain.nodes.end());
    for (NodeId id : chain.nodes) {
      for (ValueId value : graph_.node(id).results) {
        if (value == chain.result) continue;
        bool alone = !graph_.IsOutput(value);
        for (NodeId user : graph_.UsersOf(value)) {
          alone = alone && inside.count(user) > 0;
        }
        if (alone) continue;
        *why =
            "'" + graph_.value(value).name + "' within it is read from outside";
        return false;
      }
    }
    std::sort(chain.nodes.begin(), chain.nodes.end(),
              [&](NodeId a, NodeId b) { return graph_.Precedes(a, b); });
    return true;
  }

  const Graph& graph_;
  NodeId rounding_;
  Link middle_;
  std::vector<Link> before_, behind_;  // both from the rounding outwards
};

}  // namespace

bool IsWrittenRounding(const Graph& graph, const Node& node) {
  switch (OpOf(node)) {
    case Op::kRound:
    case Op::kFloor:
    case Op::kCeil:
      return node.results.size() == 1 &&
             IsFloat(graph.value(node.operands[0]).type.element);
    case Op::kCast:
      return IsFloat(graph.value(node.operands[0]).type.element) &&
             IsInteger(graph.value(node.results[0]).type.element) &&
             graph.value(node.results[0]).type.element != ElementType::u64;
    default:
      return false;
  }
}

std::optional<WrittenChain> FindWrittenChain(const Graph& graph,
                                             NodeId rounding,
                                             std::string* why) {
  why->clear();
  return Finder(graph, rounding).Find(why);
}

}  // namespace fold
