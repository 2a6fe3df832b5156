// The only way to change a graph. A pass proposes a change with its migration
// sheet; the rewriter checks the sheet against the graph before and after, and
// applies the change only if the sheet is complete and true. A refused change
// leaves the graph as it was and is recorded.
#ifndef FOLD_COMPILER_IR_REWRITER_H_
#define FOLD_COMPILER_IR_REWRITER_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/migration.h"

namespace fold {

// A new value of a proposal: a constant if `constant` is set.
struct NewValue {
  std::string name;
  TensorType type;
  TensorPtr constant;
};

// A change: nodes to remove, nodes to add in their place. New nodes may read
// old values and new ones. New values are made with Rewriter::Declare and are
// dropped again if the change is refused.
struct Proposal {
  std::vector<NodeId> removed;
  std::vector<Node> added;  // in execution order
  MigrationSheet sheet;
};

class Rewriter {
 public:
  explicit Rewriter(Graph& graph) : graph_(graph) {}

  const Graph& graph() const { return graph_; }

  // For binding alone, which adds encodings to types and changes nothing else.
  Graph& graph_to_annotate() { return graph_; }

  // A value for a proposal to use: a result of one of its nodes or a constant.
  ValueId Declare(std::string name, TensorType type,
                  TensorPtr constant = nullptr);

  // Checks and applies. Checked: each removed result that somebody else reads,
  // or that is an output, has a destination of the same element type and shape
  // whose real meaning is the same; each encoding and each constant of the
  // removed nodes has a destination that truly carries it, with the axis
  // remapped with the data; provenance of the removed nodes is in the added
  // ones (or, where none is added, moves to the producer of what stands for
  // the result). Returns false and records a Refusal if not.
  bool Apply(Proposal proposal);

  // Records that a rule matched but did not propose anything, and why.
  void Refuse(const std::string& rule, NodeId node, std::string reason);

  const std::vector<MigrationSheet>& applied() const { return applied_; }
  const std::vector<Refusal>& refused() const { return refused_; }

 private:
  std::string Fault(const Proposal& proposal) const;
  Graph& graph_;
  std::vector<MigrationSheet> applied_;
  std::vector<Refusal> refused_;
};

// The name by which users know a node: its ONNX name, or the first of its
// provenance, or "OpType->output" for nodes that have neither.
std::string UserName(const Graph& graph, NodeId node);

}  // namespace fold

#endif  // FOLD_COMPILER_IR_REWRITER_H_
