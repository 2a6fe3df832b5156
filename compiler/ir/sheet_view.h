// A proposal beside the graph that it is about: what its sheet is held against.
// Private to the rewriter.
#ifndef FOLD_COMPILER_IR_SHEET_VIEW_H_
#define FOLD_COMPILER_IR_SHEET_VIEW_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/op_info.h"
#include "compiler/ir/proposal.h"

namespace fold {

class SheetView {
 public:
  // `ops` may be null: nothing is known of operators then.
  SheetView(const Graph& graph, const Proposal& proposal, const OpTable* ops);

  const Graph& graph;
  const Proposal& proposal;
  const MigrationSheet& sheet;
  const OpTable* const ops;

  std::string Name(ValueId id) const;
  bool Known(ValueId id) const {
    return id.valid() && id.index < graph.value_count();
  }
  bool IsRemoved(NodeId id) const { return removed_.count(id) > 0; }
  // A result of a removed node.
  bool Goes(ValueId id) const;
  // A result of a new node.
  bool IsMade(ValueId id) const { return makers_.count(id) > 0; }
  const Node* MakerOf(ValueId id) const;
  bool IsRead(ValueId id) const { return read_.count(id) > 0; }
  // Operand places of removed nodes that `id` stands at.
  int PlacesOf(ValueId id) const;
  // Known, and there once the change is made.
  bool Stays(ValueId id) const;
  // An output, or read by a node that stays.
  bool IsReadElsewhere(ValueId id) const;
  // A constant that nothing reads yet.
  bool IsFreshConstant(ValueId id) const;
  // Nothing is added, and nobody reads what is removed.
  bool IsDead() const { return dead_; }
  // A new node reads it, makes it, or it stands for an old result.
  bool IsTouched(ValueId id) const;
  const ResultMove* ResultMoveOf(ValueId id) const;

  // The removed nodes, and those that make what they read.
  const std::vector<NodeId>& nearby() const { return nearby_; }

 private:
  std::set<NodeId> removed_;
  std::map<ValueId, const Node*> makers_;
  std::set<ValueId> read_, gone_;
  std::map<ValueId, int> places_;
  std::vector<NodeId> nearby_;
  bool dead_ = false;
};

// "" or the item that is missing or false, for each part of a sheet.
std::string EncodingsFault(const SheetView& view);
std::string ConstantsFault(const SheetView& view);

}  // namespace fold

#endif  // FOLD_COMPILER_IR_SHEET_VIEW_H_
