#include "compiler/ir/graph.h"

#include <algorithm>
#include <utility>

namespace fold {

std::string_view StepKindName(Step::Kind kind) {
  constexpr std::string_view kNames[] = {"multiply",   "divide", "add",
                                         "batch_norm", "clip",   "reciprocal"};
  return kNames[static_cast<int>(kind)];
}

ValueId Graph::AddValue(std::string name, TensorType type) {
  const std::string wanted = name;
  for (int n = 1; names_.count(name); ++n) {
    name = wanted + "." + std::to_string(n);
  }
  const ValueId id(static_cast<uint32_t>(values_.size()));
  names_[name] = id;
  uses_.emplace_back();
  values_.push_back({name, std::move(type), NodeId(), nullptr, {}, name});
  return id;
}

ValueId Graph::AddConstant(std::string name, TensorPtr tensor,
                           std::optional<Encoding> encoding) {
  const ValueId id = AddValue(
      std::move(name), {tensor->type, tensor->shape, std::move(encoding)});
  values_[id.index].constant = std::move(tensor);
  return id;
}

NodeId Graph::AddNode(Node node) { return InsertNode(std::move(node), {}); }

NodeId Graph::InsertNode(Node node, NodeId before) {
  const NodeId id(static_cast<uint32_t>(nodes_.size()));
  for (ValueId result : node.results) {
    if (result.valid()) values_[result.index].producer = id;
  }
  for (ValueId operand : node.operands) {
    if (operand.valid()) uses_[operand.index].push_back(id);
  }
  nodes_.push_back(std::move(node));
  places_.emplace_back();
  Link(id, before);
  return id;
}

// Puts `id` in front of `before`, or at the end.
void Graph::Link(NodeId id, NodeId before) {
  constexpr int64_t kGap = int64_t{1} << 32;
  Place& place = places_[id.index];
  place.next = before;
  place.previous = before.valid() ? places_[before.index].previous : last_;
  (place.previous.valid() ? places_[place.previous.index].next : first_) = id;
  (before.valid() ? places_[before.index].previous : last_) = id;
  ++live_;
  order_known_ = false;
  const int64_t low =
      place.previous.valid() ? places_[place.previous.index].label : 0;
  if (!before.valid()) {
    place.label = low + kGap;
    return;
  }
  const int64_t high = places_[before.index].label;
  place.label = low + (high - low) / 2;
  if (place.label == low) Relabel();
}

void Graph::Relabel() {
  constexpr int64_t kGap = int64_t{1} << 32;
  int64_t label = 0;
  for (NodeId id = first_; id.valid(); id = places_[id.index].next) {
    places_[id.index].label = label += kGap;
  }
}

void Graph::EraseNode(NodeId id) {
  Node& node = nodes_[id.index];
  for (ValueId result : node.results) {
    if (result.valid() && values_[result.index].producer == id) {
      values_[result.index].producer = NodeId();
    }
  }
  SetOperands(id, {});
  node.erased = true;
  const Place place = places_[id.index];
  (place.previous.valid() ? places_[place.previous.index].next : first_) =
      place.next;
  (place.next.valid() ? places_[place.next.index].previous : last_) =
      place.previous;
  --live_;
  order_known_ = false;
}

void Graph::SetOperands(NodeId id, std::vector<ValueId> operands) {
  Node& node = nodes_[id.index];
  for (ValueId old : node.operands) {
    if (!old.valid()) continue;
    auto& users = uses_[old.index];
    users.erase(std::find(users.begin(), users.end(), id));
  }
  for (ValueId fresh : operands) {
    if (fresh.valid()) uses_[fresh.index].push_back(id);
  }
  node.operands = std::move(operands);
}

void Graph::DropValues(size_t count) {
  while (values_.size() > count) {
    const auto last = static_cast<uint32_t>(values_.size() - 1);
    if (values_[last].producer.valid() || !uses_[last].empty() ||
        IsOutput(ValueId(last))) {
      return;
    }
    names_.erase(values_[last].name);
    values_.pop_back();
    uses_.pop_back();
  }
}

void Graph::ReplaceUses(ValueId from, ValueId to) {
  for (NodeId user : UsersOf(from)) {
    std::vector<ValueId> operands = nodes_[user.index].operands;
    std::replace(operands.begin(), operands.end(), from, to);
    SetOperands(user, std::move(operands));
  }
  std::replace(outputs.begin(), outputs.end(), from, to);
}

const std::vector<NodeId>& Graph::order() const {
  if (!order_known_) {
    order_.clear();
    for (NodeId id = first_; id.valid(); id = places_[id.index].next) {
      order_.push_back(id);
    }
    order_known_ = true;
  }
  return order_;
}

void Graph::SwapNames(ValueId a, ValueId b) {
  std::swap(values_[a.index].name, values_[b.index].name);
  names_[values_[a.index].name] = a;
  names_[values_[b.index].name] = b;
}

bool Graph::SortNodes() {
  std::vector<bool> ready(values_.size());
  for (size_t i = 0; i < values_.size(); ++i) {
    ready[i] = !values_[i].producer.valid();
  }
  std::vector<NodeId> sorted, waiting = order(), later;
  while (!waiting.empty()) {
    later.clear();
    for (NodeId id : waiting) {
      const Node& node = nodes_[id.index];
      const bool can =
          std::all_of(node.operands.begin(), node.operands.end(),
                      [&](ValueId v) { return !v.valid() || ready[v.index]; });
      if (!can) {
        later.push_back(id);
        continue;
      }
      sorted.push_back(id);
      for (ValueId v : node.results) {
        if (v.valid()) ready[v.index] = true;
      }
    }
    if (later.size() == waiting.size()) return false;
    waiting.swap(later);
  }
  first_ = last_ = NodeId();
  live_ = 0;
  for (NodeId id : sorted) Link(id, NodeId());
  return true;
}

std::vector<NodeId> Graph::UsersOf(ValueId id) const {
  std::vector<NodeId> users = uses_[id.index];
  std::sort(users.begin(), users.end(),
            [&](NodeId a, NodeId b) { return Precedes(a, b); });
  users.erase(std::unique(users.begin(), users.end()), users.end());
  return users;
}

bool Graph::IsOutput(ValueId id) const {
  return std::find(outputs.begin(), outputs.end(), id) != outputs.end();
}

bool Graph::HasSingleUse(ValueId id) const {
  return uses_[id.index].size() == 1 && !IsOutput(id);
}

ValueId Graph::FindValue(const std::string& name) const {
  const auto at = names_.find(name);
  return at == names_.end() ? ValueId() : at->second;
}

std::string CheckStructure(const Graph& graph) {
  std::vector<bool> defined(graph.value_count());
  for (uint32_t i = 0; i < graph.value_count(); ++i) {
    defined[i] = graph.value(ValueId(i)).constant != nullptr;
  }
  const auto known = [&](ValueId id) { return id.index < defined.size(); };
  for (ValueId id : graph.inputs) {
    if (!known(id)) return "an input is not a value";
    defined[id.index] = true;
  }
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const std::string where = "node '" + node.name + "'";
    if (node.erased) return where + " is erased and in the order";
    for (ValueId operand : node.operands) {
      if (!operand.valid()) continue;
      if (!known(operand)) return where + " reads no value of the graph";
      if (!defined[operand.index]) {
        return where + " reads '" + graph.value(operand).name +
               "' before it is made";
      }
    }
    for (ValueId result : node.results) {
      if (!result.valid()) continue;
      if (!known(result)) return where + " makes no value of the graph";
      if (defined[result.index]) {
        return "'" + graph.value(result).name + "' is made twice";
      }
      if (graph.value(result).producer != id) {
        return "'" + graph.value(result).name + "' has another producer";
      }
      defined[result.index] = true;
    }
  }
  for (ValueId id : graph.outputs) {
    if (!known(id) || !defined[id.index]) return "an output is never made";
  }
  if (graph.outputs.size() != graph.output_names.size()) {
    return "outputs and their names differ in number";
  }
  return "";
}

}  // namespace fold
