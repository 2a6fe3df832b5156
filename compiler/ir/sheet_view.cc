#include "compiler/ir/sheet_view.h"

#include <algorithm>

namespace fold {

SheetView::SheetView(const Graph& graph, const Proposal& proposal,
                     const OpTable* ops)
    : graph(graph), proposal(proposal), sheet(proposal.sheet), ops(ops) {
  removed_.insert(proposal.removed.begin(), proposal.removed.end());
  for (const Node& node : proposal.added) {
    for (ValueId v : node.operands) {
      if (v.valid()) read_.insert(v);
    }
    for (ValueId v : node.results) {
      if (v.valid()) makers_[v] = &node;
    }
  }
  std::set<NodeId> nearby = removed_;
  for (NodeId id : removed_) {
    for (ValueId v : graph.node(id).operands) {
      if (!v.valid()) continue;
      ++places_[v];
      const NodeId producer = graph.value(v).producer;
      if (producer.valid()) nearby.insert(producer);
    }
    for (ValueId v : graph.node(id).results) {
      if (v.valid()) gone_.insert(v);
    }
  }
  nearby_.assign(nearby.begin(), nearby.end());
  dead_ = proposal.added.empty() && sheet.results.empty() &&
          std::none_of(gone_.begin(), gone_.end(),
                       [&](ValueId v) { return IsReadElsewhere(v); });
}

std::string SheetView::Name(ValueId id) const {
  return Known(id) ? graph.value(id).name : "?";
}

bool SheetView::Goes(ValueId id) const { return gone_.count(id) > 0; }

const Node* SheetView::MakerOf(ValueId id) const {
  const auto at = makers_.find(id);
  return at == makers_.end() ? nullptr : at->second;
}

int SheetView::PlacesOf(ValueId id) const {
  const auto at = places_.find(id);
  return at == places_.end() ? 0 : at->second;
}

bool SheetView::Stays(ValueId id) const {
  if (!Known(id) || Goes(id)) return false;
  if (IsMade(id) || graph.IsConstant(id)) return true;
  const NodeId producer = graph.value(id).producer;
  if (producer.valid()) return !graph.node(producer).erased;
  return std::count(graph.inputs.begin(), graph.inputs.end(), id) > 0;
}

bool SheetView::IsReadElsewhere(ValueId id) const {
  if (graph.IsOutput(id)) return true;
  for (NodeId user : graph.UsersOf(id)) {
    if (!IsRemoved(user)) return true;
  }
  return false;
}

bool SheetView::IsFreshConstant(ValueId id) const {
  return Known(id) && graph.IsConstant(id) && graph.UsersOf(id).empty() &&
         !graph.IsOutput(id);
}

bool SheetView::IsTouched(ValueId id) const {
  if (IsRead(id) || IsMade(id)) return true;
  for (const ResultMove& move : sheet.results) {
    if (move.to == id) return true;
  }
  return false;
}

const ResultMove* SheetView::ResultMoveOf(ValueId id) const {
  for (const ResultMove& move : sheet.results) {
    if (move.from == id) return &move;
  }
  return nullptr;
}

}  // namespace fold
