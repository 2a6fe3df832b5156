#include "compiler/annotate/table_coverage.h"

#include <algorithm>
#include <map>

#include "compiler/ir/rewriter.h"
#include "compiler/ops/op_spec.h"

namespace fold {
namespace {

constexpr int kDeepest = 200;  // moves of elements in a row

bool IsLinearOperator(const Node& node) {
  const std::string_view name = Ops().Mnemonic(node.op);
  return name == "conv" || name == "conv_transpose" || name == "gemm" ||
         name == "matmul";
}

// The axis of operand `place` of a linear operator along which its output
// channels run; nullopt for an operand that has none.
std::optional<int64_t> ChannelAxisAt(const Graph& graph, const Node& node,
                                     size_t place) {
  const std::string_view name = Ops().Mnemonic(node.op);
  const auto rank =
      static_cast<int64_t>(graph.value(node.operands[place]).type.shape.size());
  if (name == "matmul") {
    // The columns of the right operand, the rows of the left one.
    if (rank < 2) return rank - 1;
    return place == 1 ? rank - 1 : rank - 2;
  }
  if (place == 2) return 0;  // the bias
  if (place != 1) return std::nullopt;
  if (name == "gemm") {
    return node.attribute<int64_t>("transB", 0) != 0 ? 0 : 1;
  }
  return name == "conv_transpose" ? 1 : 0;
}

// The axis of operand 0 that axis `axis` of the result is.
std::optional<int64_t> AxisBefore(const Graph& graph, const Node& node,
                                  int64_t axis) {
  switch (OpOf(node)) {
    case Op::kIdentity:
    case Op::kCast:
      return axis;
    case Op::kTranspose: {
      const auto rank =
          static_cast<int64_t>(graph.value(node.operands[0]).type.shape.size());
      std::vector<int64_t> reversed;
      for (int64_t d = rank; d-- > 0;) reversed.push_back(d);
      const auto perm = node.attribute("perm", reversed);
      return perm[axis];
    }
    default:
      return std::nullopt;
  }
}

std::vector<int64_t> AxesOf(const Graph& graph, ValueId id, int depth) {
  std::vector<int64_t> axes;
  if (depth > kDeepest) return axes;
  for (NodeId user : graph.UsersOf(id)) {
    const Node& node = graph.node(user);
    if (IsLinearOperator(node)) {
      for (size_t i = 0; i < node.operands.size(); ++i) {
        if (node.operands[i] != id) continue;
        const auto axis = ChannelAxisAt(graph, node, i);
        if (axis) axes.push_back(*axis);
      }
      continue;
    }
    if (OpOf(node) != Op::kIdentity && OpOf(node) != Op::kCast &&
        OpOf(node) != Op::kTranspose) {
      continue;
    }
    for (int64_t axis : AxesOf(graph, node.results[0], depth + 1)) {
      const auto before = AxisBefore(graph, node, axis);
      if (before) axes.push_back(*before);
    }
  }
  return axes;
}

bool KeepsNumbers(Op op) {
  const EncodingRule rule = SpecOf(op).encoding;
  return rule == EncodingRule::kPreserving ||
         rule == EncodingRule::kPermuting || op == Op::kMaxPool ||
         op == Op::kConcat;
}

// The tensor whose numbers `id` has, as far as only one is moved: the one that
// a table would name.
ValueId OriginOf(const Graph& graph, ValueId id) {
  for (int depth = 0; depth < kDeepest; ++depth) {
    const NodeId producer = graph.value(id).producer;
    if (!producer.valid()) break;
    const Node& node = graph.node(producer);
    if (!KeepsNumbers(OpOf(node)) || OpOf(node) == Op::kConcat) break;
    id = node.operands[0];
  }
  return id;
}

class Coverage {
 public:
  Coverage(const Graph& graph, const std::set<ValueId>& floats)
      : graph_(graph), floats_(floats) {}

  // Something speaks of the numbers of `id`. Each value is asked once.
  bool IsCovered(ValueId id, int depth = 0) {
    const auto [at, fresh] = known_.try_emplace(id, true);
    if (!fresh) return at->second;
    const bool covered = Ask(id, depth);
    known_[id] = covered;
    return covered;
  }

 private:
  bool Ask(ValueId id, int depth) {
    const Value& value = graph_.value(id);
    if (value.type.encoding || floats_.count(id) ||
        !IsFloat(value.type.element) || depth > kDeepest) {
      return true;
    }
    if (!value.producer.valid()) return false;
    const Node& node = graph_.node(value.producer);
    if (OpOf(node) == Op::kDequantizeLinear) return true;
    const Op op = OpOf(node);
    if (!KeepsNumbers(op)) return false;
    const size_t inputs = op == Op::kConcat ? node.operands.size() : 1;
    for (size_t i = 0; i < inputs && i < node.operands.size(); ++i) {
      if (!IsCovered(node.operands[i], depth + 1)) return false;
    }
    return true;
  }

  const Graph& graph_;
  const std::set<ValueId>& floats_;
  std::map<ValueId, bool> known_;
};

}  // namespace

std::optional<int64_t> ChannelAxisOfTensor(const Graph& graph, ValueId id) {
  if (graph.value(id).type.shape.size() == 1) return 0;
  const auto axes = AxesOf(graph, id, 0);
  if (axes.empty() || std::count(axes.begin(), axes.end(), axes[0]) !=
                          static_cast<std::ptrdiff_t>(axes.size())) {
    return std::nullopt;
  }
  return axes[0];
}

std::vector<Gap> UncoveredTensors(const Graph& graph,
                                  const EncodingTable& table,
                                  const std::set<ValueId>& floats) {
  using Kind = EncodingEntry::Kind;
  const auto has = [&](Kind kind) {
    return std::any_of(
        table.entries.begin(), table.entries.end(),
        [&](const EncodingEntry& entry) { return entry.kind == kind; });
  };
  const bool activations = has(Kind::kActivation);
  const bool parameters = has(Kind::kParameter);
  Coverage coverage(graph, floats);
  std::vector<Gap> gaps;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!IsLinearOperator(node)) continue;
    for (size_t place = 0; place < 2; ++place) {
      const ValueId value = node.operands[place];
      const bool constant = ConstantOf(graph, value) != nullptr;
      if (!(constant ? parameters : activations)) continue;
      if (!coverage.IsCovered(value)) {
        gaps.push_back({UserName(graph, id), OriginOf(graph, value)});
      }
    }
  }
  return gaps;
}

}  // namespace fold
