// What the graph's own code (printer, parser, verifier) may know of operators:
// an interface that compiler/ops/registry implements.
#ifndef FOLD_COMPILER_IR_OP_INFO_H_
#define FOLD_COMPILER_IR_OP_INFO_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

  // What sheets are held against. A table that does not know says so, and what
  // a sheet claims of it is refused.
  //
  // The result of a node whose operands are constants (or constants behind a
  // DequantizeLinear, read as real numbers), without rounding; null if it
  // cannot be had.
  virtual TensorPtr Evaluate(const Graph&, const Node&) const {
    return nullptr;
  }
  // The shape of result 0, where it follows from the operands.
  virtual std::optional<Shape> InferShape(const Graph&, const Node&) const {
    return std::nullopt;
  }
  // For a node whose result has the axes of operand 0, moved or as they are:
  // result axis i is axis perm[i] of operand 0.
  virtual std::optional<std::vector<int64_t>> Permutation(const Graph&,
                                                          const Node&) const {
    return std::nullopt;
  }
  // The arithmetic of a node, its steps included, that may make an infinity or
  // a NaN of finite numbers: each by the operator that it is known as, so that
  // a division is one in whatever form.
  virtual std::vector<OpId> Exceptional(const Graph&, const Node&) const {
    return {};
  }
};

}  // namespace fold

#endif  // FOLD_COMPILER_IR_OP_INFO_H_
