// What the graph's own code (printer, parser, verifier) may know of operators:
// an interface that compiler/ops/registry implements.
#ifndef FOLD_COMPILER_IR_OP_INFO_H_
#define FOLD_COMPILER_IR_OP_INFO_H_

#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"

namespace fold {

class OpTable {
 public:
  virtual ~OpTable() = default;
  // The operator's name in the text form, e.g. "conv".
  virtual std::string_view Mnemonic(OpId op) const = 0;
  virtual std::optional<OpId> Find(std::string_view mnemonic) const = 0;
  // "" if the node's arity, attributes and operand and result types fit the
  // operator, else what does not.
  virtual std::string Check(const Graph& graph, const Node& node) const = 0;
};

}  // namespace fold

#endif  // FOLD_COMPILER_IR_OP_INFO_H_
