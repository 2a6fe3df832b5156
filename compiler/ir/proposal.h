// A change that a pass wants: what goes, what comes, and the sheet that says
// what becomes of everything.
#ifndef FOLD_COMPILER_IR_PROPOSAL_H_
#define FOLD_COMPILER_IR_PROPOSAL_H_

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/migration.h"

namespace fold {

// A change: nodes to remove, nodes to add in their place. New nodes may read
// old values and new ones. New values are made with Rewriter::Declare and are
// dropped again if the change is refused.
struct Proposal {
  std::vector<NodeId> removed;
  std::vector<Node> added;  // in execution order
  MigrationSheet sheet;
};

}  // namespace fold

#endif  // FOLD_COMPILER_IR_PROPOSAL_H_
