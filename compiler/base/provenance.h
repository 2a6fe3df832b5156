// Where something comes from: the ONNX nodes that a node of the graph stands
// for. Rewrites merge provenance, they never drop it.
#ifndef FOLD_COMPILER_BASE_PROVENANCE_H_
#define FOLD_COMPILER_BASE_PROVENANCE_H_

#include <algorithm>
#include <string>
#include <vector>

namespace fold {

// Names of ONNX nodes, sorted, each once. A node without a name is known by
// "OpType->first_output".
struct Provenance {
  std::vector<std::string> nodes;

  void Add(const std::string& node) {
    auto at = std::lower_bound(nodes.begin(), nodes.end(), node);
    if (at == nodes.end() || *at != node) nodes.insert(at, node);
  }
  void Merge(const Provenance& other) {
    for (const std::string& node : other.nodes) Add(node);
  }
  // True if every node of `other` is listed here.
  bool Includes(const Provenance& other) const {
    return std::includes(nodes.begin(), nodes.end(), other.nodes.begin(),
                         other.nodes.end());
  }
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

}  // namespace fold

#endif  // FOLD_COMPILER_BASE_PROVENANCE_H_
