#include "compiler/ir/rewriter.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/sheet_check.h"

namespace fold {
namespace {

// Where nothing is added, the provenance goes to the producer of what stands
// for the result, or to its readers if it has none.
void HandOverProvenance(Graph& graph, const Provenance& from, ValueId to) {
  const NodeId producer = graph.value(to).producer;
  if (producer.valid()) {
    graph.mutable_node(producer).provenance.Merge(from);
    return;
  }
  for (NodeId user : graph.UsersOf(to)) {
    graph.mutable_node(user).provenance.Merge(from);
  }
}

// Every operand of `id` is made before it, and all that it makes is read after.
bool InPlace(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (ValueId v : node.operands) {
    if (!v.valid()) continue;
    const NodeId producer = graph.value(v).producer;
    if (producer.valid() && !graph.Precedes(producer, id)) return false;
  }
  for (ValueId v : node.results) {
    if (!v.valid()) continue;
    for (NodeId user : graph.UsersOf(v)) {
      if (!graph.Precedes(id, user)) return false;
    }
  }
  return true;
}

// `to` stands for `from`: it takes the name if it is new, else an alias.
void HandOverName(Graph& graph, ValueId from, ValueId to, bool fresh) {
  if (fresh && graph.value(to).aliases.empty()) {
    graph.SwapNames(from, to);
  } else {
    graph.mutable_value(to).aliases.push_back(graph.value(from).name);
  }
  for (const std::string& alias : graph.value(from).aliases) {
    graph.mutable_value(to).aliases.push_back(alias);
  }
  graph.mutable_value(from).aliases.clear();
}

int64_t BytesOf(const TensorType& type) {
  return ElementCount(type.shape) * ElementSize(type.element);
}

RewriteCost CostOf(const Graph& graph, const Proposal& proposal) {
  RewriteCost cost;
  cost.nodes_removed = static_cast<int>(proposal.removed.size());
  cost.nodes_added = static_cast<int>(proposal.added.size());
  const std::set<NodeId> removed(proposal.removed.begin(),
                                 proposal.removed.end());
  std::set<ValueId> read, left;
  for (const Node& node : proposal.added) {
    read.insert(node.operands.begin(), node.operands.end());
    for (ValueId v : node.results) {
      if (v.valid()) cost.run_bytes_added += BytesOf(graph.value(v).type);
    }
  }
  for (const ResultMove& move : proposal.sheet.results) read.insert(move.to);
  for (NodeId id : removed) {
    const Node& node = graph.node(id);
    left.insert(node.operands.begin(), node.operands.end());
    for (ValueId v : node.results) {
      if (v.valid()) cost.run_bytes_removed += BytesOf(graph.value(v).type);
    }
  }
  for (ValueId v : read) {
    if (v.valid() && graph.IsConstant(v) && graph.UsersOf(v).empty() &&
        !graph.IsOutput(v)) {
      cost.constant_bytes_added += BytesOf(graph.value(v).type);
    }
  }
  for (ValueId v : left) {
    if (!v.valid() || !graph.IsConstant(v) || read.count(v)) continue;
    const auto users = graph.UsersOf(v);
    const bool last = !graph.IsOutput(v) &&
                      std::all_of(users.begin(), users.end(), [&](NodeId user) {
                        return removed.count(user) > 0;
                      });
    if (last) cost.constant_bytes_removed += BytesOf(graph.value(v).type);
  }
  return cost;
}

}  // namespace

ValueId Rewriter::Declare(std::string name, TensorType type,
                          TensorPtr constant) {
  if (constant) {
    return graph_.AddConstant(std::move(name), std::move(constant),
                              std::move(type.encoding));
  }
  return graph_.AddValue(std::move(name), std::move(type));
}

void Rewriter::Describe(Proposal& proposal) const {
  MigrationSheet& sheet = proposal.sheet;
  const auto describe = [&](const Node& node, std::string name) {
    return RewrittenNode{node.op, std::move(name), node.provenance.nodes,
                         node.operands, node.results};
  };
  for (NodeId id : proposal.removed) {
    sheet.removed.push_back(describe(graph_.node(id), UserName(graph_, id)));
  }
  for (const Node& node : proposal.added) {
    sheet.added.push_back(describe(node, node.name));
  }
  sheet.cost = CostOf(graph_, proposal);
  sheet.cost.seconds =
      std::chrono::duration<double>(Clock::now() - begun_).count();
}

namespace {

Sharing SharingOf(const Graph& graph, const Proposal& proposal, ValueId id) {
  if (graph.IsOutput(id)) return Sharing::kSplit;
  size_t here = 0;
  const std::vector<NodeId> users = graph.UsersOf(id);
  for (NodeId user : users) {
    here += std::count(proposal.removed.begin(), proposal.removed.end(), user);
  }
  if (here < users.size()) return Sharing::kSplit;
  return here > 1 ? Sharing::kCoordinated : Sharing::kSingleUse;
}

}  // namespace

bool Rewriter::Apply(Proposal proposal) {
  const std::string fault = SheetFault(graph_, proposal, ops_);
  if (!fault.empty()) {
    if (proposal.removed.empty()) {
      refused_.push_back({proposal.sheet.rule, "", fault});
      Close(false);
    } else {
      Refuse(proposal.sheet.rule, proposal.removed.front(), fault);
    }
    return false;
  }
  Describe(proposal);
  MigrationSheet& sheet = proposal.sheet;
  for (ConstantMove& move : sheet.constants) {
    const bool shared = move.kind != ConstantMove::Kind::kMade &&
                        move.kind != ConstantMove::Kind::kMoved;
    if (shared && graph_.IsConstant(move.from)) {
      move.sharing = SharingOf(graph_, proposal, move.from);
    }
  }
  Provenance removed;
  std::set<ValueId> fresh;
  for (NodeId id : proposal.removed) removed.Merge(graph_.node(id).provenance);
  for (const Node& node : proposal.added) {
    for (ValueId v : node.results) fresh.insert(v);
  }
  const NodeId place = proposal.removed.back();
  std::vector<NodeId> changed;
  for (Node& node : proposal.added) {
    changed.push_back(graph_.InsertNode(std::move(node), place));
  }
  for (const ResultMove& move : sheet.results) {
    graph_.ReplaceUses(move.from, move.to);
    const NodeId producer = graph_.value(move.to).producer;
    if (producer.valid()) changed.push_back(producer);
    HandOverName(graph_, move.from, move.to, fresh.count(move.to) > 0);
  }
  for (NodeId id : proposal.removed) graph_.EraseNode(id);
  if (proposal.added.empty()) {
    for (const ResultMove& move : sheet.results) {
      HandOverProvenance(graph_, removed, move.to);
    }
  }
  for (NodeId id : changed) {
    if (graph_.node(id).erased || InPlace(graph_, id)) continue;
    graph_.SortNodes();
    break;
  }
  for (ConstantMove& move : sheet.constants) move.verify = nullptr;
  applied_.push_back(std::move(sheet));
  Close(true);
  return true;
}

void Rewriter::Close(bool applied) {
  if (!applied) graph_.DropValues(kept_values_);
  kept_values_ = graph_.value_count();
  begun_ = Clock::now();
}

void Rewriter::Refuse(const std::string& rule, NodeId node,
                      std::string reason) {
  refused_.push_back({rule, UserName(graph_, node), std::move(reason)});
  Close(false);
}

std::string UserName(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.name.empty()) return node.name;
  if (!node.provenance.nodes.empty()) return node.provenance.nodes.front();
  for (ValueId result : node.results) {
    if (result.valid()) return "->" + graph.value(result).name;
  }
  return "";
}

}  // namespace fold
