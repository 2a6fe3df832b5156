// Stages as properties: for each, a function that looks at the graph.
#ifndef FOLD_COMPILER_PASSES_STAGE_CHECK_H_
#define FOLD_COMPILER_PASSES_STAGE_CHECK_H_

#include <string>

#include "compiler/ir/graph.h"

namespace fold {

// "" if what `stage` promises holds in the graph, else what does not, naming
// the node. Checks that stage alone; legal and planned are checked where a
// target is known (compiler/lower).
std::string CheckStage(const Graph& graph, Stage stage);

// CheckStructure, and arity, attributes, types and shapes of every node.
std::string CheckNodes(const Graph& graph);

}  // namespace fold

#endif  // FOLD_COMPILER_PASSES_STAGE_CHECK_H_
