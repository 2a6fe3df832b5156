#include "compiler/ir/graph.h"

#include <algorithm>
#include <utility>

namespace fold {

std::string_view StepKindName(Step::Kind kind) {
  constexpr std::string_view kNames[] = {"multiply", "divide", "add",
                                         "batch_norm", "clip"};
  return kNames[static_cast<int>(kind)];
}

ValueId Graph::AddValue(std::string name, TensorType type) {
  std::string unique = name;
  for (int n = 1; names_.count(unique); ++n) {
    unique = name + "." + std::to_string(n);
  }
  const ValueId id(static_cast<uint32_t>(values_.size()));
  names_[unique] = id;
  values_.push_back({unique, std::move(type), NodeId(), nullptr, {}});
  return id;
}

ValueId Graph::AddConstant(std::string name, TensorPtr tensor,
                           std::optional<Encoding> encoding) {
  const ValueId id = AddValue(
      std::move(name), {tensor->type, tensor->shape, std::move(encoding)});
  values_[id.index].constant = std::move(tensor);
  return id;
}

NodeId Graph::AddNode(Node node) {
  const NodeId id(static_cast<uint32_t>(nodes_.size()));
  for (ValueId result : node.results) {
    if (result.valid()) values_[result.index].producer = id;
  }
  nodes_.push_back(std::move(node));
  order_.push_back(id);
  return id;
}

NodeId Graph::InsertNode(Node node, NodeId before) {
  const NodeId id = AddNode(std::move(node));
  order_.pop_back();
  order_.insert(std::find(order_.begin(), order_.end(), before), id);
  return id;
}

void Graph::EraseNode(NodeId id) {
  Node& node = nodes_[id.index];
  for (ValueId result : node.results) {
    if (result.valid() && values_[result.index].producer == id) {
      values_[result.index].producer = NodeId();
    }
  }
  node.erased = true;
  order_.erase(std::find(order_.begin(), order_.end(), id));
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
  std::vector<NodeId> sorted, waiting = order_, later;
  while (!waiting.empty()) {
    later.clear();
    for (NodeId id : waiting) {
      const Node& node = nodes_[id.index];
      const bool can = std::all_of(
          node.operands.begin(), node.operands.end(),
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
  order_ = std::move(sorted);
  return true;
}

std::vector<NodeId> Graph::UsersOf(ValueId id) const {
  std::vector<NodeId> users;
  for (NodeId node : order_) {
    const auto& operands = nodes_[node.index].operands;
    if (std::find(operands.begin(), operands.end(), id) != operands.end()) {
      users.push_back(node);
    }
  }
  return users;
}

bool Graph::IsOutput(ValueId id) const {
  return std::find(outputs.begin(), outputs.end(), id) != outputs.end();
}

bool Graph::HasSingleUse(ValueId id) const {
  if (IsOutput(id)) return false;
  int uses = 0;
  for (NodeId node : order_) {
    for (ValueId operand : nodes_[node.index].operands) uses += operand == id;
  }
  return uses == 1;
}

ValueId Graph::FindValue(const std::string& name) const {
  const auto at = names_.find(name);
  return at == names_.end() ? ValueId() : at->second;
}

UseMap::UseMap(const Graph& graph)
    : uses_(graph.value_count()), output_(graph.value_count()) {
  for (NodeId node : graph.order()) {
    for (ValueId operand : graph.node(node).operands) {
      if (operand.valid()) uses_[operand.index].push_back(node);
    }
  }
  for (ValueId id : graph.outputs) output_[id.index] = true;
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
