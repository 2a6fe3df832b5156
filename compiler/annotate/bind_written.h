// Binds the fake-quantizations that a model writes out as elementary operators.
#ifndef FOLD_COMPILER_ANNOTATE_BIND_WRITTEN_H_
#define FOLD_COMPILER_ANNOTATE_BIND_WRITTEN_H_

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace fold {

// A rounding among constant arithmetic that is not exactly a quantization.
struct NearMiss {
  NodeId node;
  std::string reason;
};

// The result of each chain (written_chain.h) gets the chain's encoding into its
// type, if it has none. What is nearly a chain is left as it is and returned.
std::vector<NearMiss> BindWrittenChains(Graph& graph);

}  // namespace fold

#endif  // FOLD_COMPILER_ANNOTATE_BIND_WRITTEN_H_
