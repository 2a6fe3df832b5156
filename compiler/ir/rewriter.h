// The only way to change a graph. A pass proposes a change with its migration
// sheet; the rewriter checks the sheet against the graph before and after, and
// applies the change only if the sheet is complete and true. A refused change
// leaves the graph as it was and is recorded.
#ifndef FOLD_COMPILER_IR_REWRITER_H_
#define FOLD_COMPILER_IR_REWRITER_H_

#include <chrono>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/migration.h"
#include "compiler/ir/op_info.h"
#include "compiler/ir/proposal.h"

namespace fold {

class Rewriter {
 public:
  // Without `ops` nothing can be claimed to be evaluated or inferred.
  explicit Rewriter(Graph& graph, const OpTable* ops = nullptr)
      : graph_(graph),
        ops_(ops),
        begun_(Clock::now()),
        kept_values_(graph.value_count()) {}

  const Graph& graph() const { return graph_; }

  // For binding alone, which adds encodings to types and changes nothing else.
  Graph& graph_to_annotate() { return graph_; }

  // A value for a proposal to use: a result of one of its nodes or a constant.
  ValueId Declare(std::string name, TensorType type,
                  TensorPtr constant = nullptr);

  // Checks (sheet_check.h) and applies. What stands for a result takes over
  // its name if it is new, else the name becomes an alias of it; where nothing
  // is added, provenance moves to the producer of what stands for the result.
  // Returns false and records a Refusal, and drops what has been declared, if
  // the sheet does not hold.
  bool Apply(Proposal proposal);

  // Records that a rule matched but did not propose anything, and why. Drops
  // what has been declared for it.
  void Refuse(const std::string& rule, NodeId node, std::string reason);

  const std::vector<MigrationSheet>& applied() const { return applied_; }
  const std::vector<Refusal>& refused() const { return refused_; }

 private:
  using Clock = std::chrono::steady_clock;
  void Describe(Proposal& proposal) const;
  // A proposal is over: the next one begins.
  void Close(bool applied);
  Graph& graph_;
  const OpTable* ops_;
  Clock::time_point begun_;
  size_t kept_values_;  // those that no open proposal has declared
  std::vector<MigrationSheet> applied_;
  std::vector<Refusal> refused_;
};

// The name by which users know a node: its ONNX name, or the first of its
// provenance, or "OpType->output" for nodes that have neither.
std::string UserName(const Graph& graph, NodeId node);

}  // namespace fold

#endif  // FOLD_COMPILER_IR_REWRITER_H_
