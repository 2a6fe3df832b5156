#include "compiler/annotate/bind_written.h"

#include <set>

#include "compiler/annotate/written_chain.h"

namespace fold {

std::vector<NearMiss> BindWrittenChains(Graph& graph) {
  std::vector<NearMiss> near_misses;
  std::set<NodeId> bound;
  for (NodeId id : graph.order()) {
    if (!IsWrittenRounding(graph, graph.node(id)) || bound.count(id)) continue;
    std::string why;
    const auto chain = FindWrittenChain(graph, id, &why);
    if (!chain) {
      if (!why.empty()) near_misses.push_back({id, why});
      continue;
    }
    // A further rounding of codes that are whole already.
    bound.insert(chain->nodes.begin(), chain->nodes.end());
    auto& slot = graph.mutable_value(chain->result).type.encoding;
    if (!slot) slot = chain->grid.encoding;
  }
  return near_misses;
}

}  // namespace fold
