// Operands that come through a DequantizeLinear, and taking that node away.
#ifndef FOLD_COMPILER_PASSES_DEQUANTIZED_H_
#define FOLD_COMPILER_PASSES_DEQUANTIZED_H_

#include <optional>
#include <set>
#include <string>

#include "compiler/passes/pattern.h"

namespace fold {

// A change that replaces one node by another that reads integers where it read
// real numbers. DequantizeLinear nodes that nobody else reads go with it.
class IntegerRewrite {
 public:
  IntegerRewrite(Rewriter& rewriter, NodeId node, std::string rule);

  // The integers behind `real`, in a value whose type carries the encoding of
  // the DequantizeLinear that makes it (recast.h where their own type says
  // otherwise). Nullopt if `real` comes from elsewhere.
  std::optional<ValueId> Codes(ValueId real);

  // The encoding that `real` has been given by its DequantizeLinear.
  static std::optional<Encoding> EncodingOfReal(const Graph& graph,
                                                ValueId real);

  const Node& node() const { return node_; }
  MigrationSheet& sheet() { return proposal_.sheet; }
  // A node with the name and provenance of all that is replaced.
  Node Successor(Op op) const;
  void Add(Node node) { proposal_.added.push_back(std::move(node)); }
  // Another node that goes away with this one.
  void AlsoRemove(NodeId id);

  // Result 0 of the node is from now on `result`. Applies.
  bool Apply(ValueId result);
  bool ApplyFor(ValueId old_result, ValueId result);

 private:
  Rewriter& rewriter_;
  NodeId id_;
  Node node_;
  Proposal proposal_;
  std::set<NodeId> dequantizers_;
  Provenance provenance_;
};

// `real` reaches a QuantizeLinear through nothing but steps (constant
// arithmetic, Relu, Clip), each the only user of the one before.
bool EndsInQuantize(const Graph& graph, ValueId real);

// Why the integers behind `real` cannot be computed with: it comes from no
// DequantizeLinear, or from one of more than one scale, of a constant, or of
// codes of more than `most_bytes` bytes. "" if they can.
std::string InputFault(const Graph& graph, ValueId real, int most_bytes = 1);
// Why an Add, Sub, Mul or Div cannot take the integers behind its operands; ""
// if it can. One of them may be constant: codes of one scale and 8 bits for
// all but Div, or at most 256 different numbers, codes or not.
std::string PairFault(const Graph& graph, const Node& node);
// Why a Conv, Gemm or MatMul cannot take the integers behind its operands; ""
// if it can.
std::string LinearFault(const Graph& graph, const Node& node);

}  // namespace fold

#endif  // FOLD_COMPILER_PASSES_DEQUANTIZED_H_
