// op(move(x)) = move(op(x)) for operators that look at one element at a time.
// Behind a transposition: Relu and Clip, sums, differences, products and
// quotients with a value transposed alike or with a constant, whose dimensions
// move back with the data, and BatchNormalization where the channels stay where
// they are. Behind a Reshape and its relatives: those with no other operand
// than single numbers. So arithmetic comes next to the operator whose result
// was moved, and movements meet further down.
#include <algorithm>

#include "compiler/ir/derivation.h"
#include "compiler/ops/movement.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

constexpr char kRule[] = "sink_movement";

using Permutation = std::vector<int64_t>;

bool IsElementwise(Op op) {
  return IsPair(op) || op == Op::kRelu || op == Op::kClip ||
         op == Op::kBatchNormalization;
}

bool IsMover(Op op) {
  return op == Op::kTranspose || op == Op::kReshape || op == Op::kFlatten ||
         op == Op::kSqueeze || op == Op::kUnsqueeze;
}

// The node that makes real operand `at` by moving elements, invalid if there
// is none.
NodeId MoverAt(const Graph& graph, const Node& node, size_t at) {
  const Node* producer = ProducerOf(graph, node.operands[at]);
  if (!producer || !IsMover(OpOf(*producer)) ||
      !IsReal(graph.value(node.operands[at]).type)) {
    return {};
  }
  return graph.value(node.operands[at]).producer;
}

class Sinking {
 public:
  Sinking(Rewriter& rewriter, NodeId id, NodeId mover)
      : rewriter_(rewriter),
        graph_(rewriter.graph()),
        id_(id),
        node_(graph_.node(id)),
        moved_(node_),
        mover_(graph_.node(mover)) {
    proposal_.sheet.rule = kRule;
    if (OpOf(mover_) != Op::kTranspose) return;
    const size_t rank = graph_.value(mover_.operands[0]).type.shape.size();
    permutation_ = PermutationOf(mover_, rank).value_or(Permutation());
  }

  bool Run() {
    const Shape& shape = graph_.value(node_.results[0]).type.shape;
    if (shape != graph_.value(mover_.results[0]).type.shape) {
      return Refuse("another operand makes the result larger");
    }
    for (size_t at = 0; at < DataOperands(); ++at) {
      if (!MoveOperand(at)) return false;
    }
    if (OpOf(node_) == Op::kBatchNormalization &&
        (permutation_.size() < 2 || permutation_[1] != 1)) {
      return Refuse("the channels do not stay where they are");
    }
    return Apply();
  }

 private:
  bool Refuse(const std::string& reason) {
    rewriter_.Refuse(kRule, id_, reason);
    return false;
  }
  size_t DataOperands() const { return IsPair(OpOf(node_)) ? 2 : 1; }

  // Moves as `mover_` does.
  bool IsAlike(const Node& other) const {
    const auto shape = [&](const Node& node) {
      return graph_.value(node.operands[0]).type.shape;
    };
    if (shape(other) != shape(mover_) || OpOf(other) != OpOf(mover_)) {
      return false;
    }
    // A Reshape of equal shapes into equal shapes keeps the order.
    return OpOf(mover_) != Op::kTranspose ||
           PermutationOf(other, permutation_.size()) == permutation_;
  }

  bool MoveOperand(size_t at) {
    const ValueId operand = node_.operands[at];
    if (graph_.IsConstant(operand)) return MoveConstant(at);
    const NodeId producer = MoverAt(graph_, node_, at);
    if (!producer.valid() || !IsAlike(graph_.node(producer))) {
      return Refuse("its other operand is not moved alike");
    }
    // Each user needs a movement of its own otherwise.
    const auto users = graph_.UsersOf(operand);
    if (users.size() != 1 || graph_.IsOutput(operand)) {
      return Refuse("the moved value has other users");
    }
    moved_.operands[at] = graph_.node(producer).operands[0];
    if (std::count(proposal_.removed.begin(), proposal_.removed.end(),
                   producer) == 0) {
      proposal_.removed.push_back(producer);
      provenance_.Merge(graph_.node(producer).provenance);
      SayShapesAgree(graph_.node(producer));
    }
    return true;
  }

  // The other side's Reshape has a shape of its own, which says the same.
  void SayShapesAgree(const Node& other) {
    for (size_t i = 1; i < other.operands.size(); ++i) {
      const ValueId shape = other.operands[i];
      if (!graph_.IsConstant(shape) || shape == OperandAt(mover_, i)) continue;
      ConstantMove move = {shape, ValueId(), ConstantMove::Kind::kUnneeded,
                           "the other operand's Reshape gives the same shape"};
      move.why = Unneeded::kNamed;
      const ValueId one = other.results[0], same = mover_.results[0];
      move.verify = [=](const Graph& graph, const ConstantMove&) {
        return graph.value(one).type.shape == graph.value(same).type.shape
                   ? ""
                   : "gives another shape";
      };
      proposal_.sheet.constants.push_back(std::move(move));
    }
  }

  // A constant that broadcasts against the transposed value, with its
  // dimensions where they were before.
  bool MoveConstant(size_t at) {
    const ValueId operand = node_.operands[at];
    const Tensor& constant = *graph_.value(operand).constant;
    const size_t rank = graph_.value(mover_.operands[0]).type.shape.size();
    if (constant.size() == 1 && constant.shape.size() <= rank) return true;
    if (OpOf(mover_) != Op::kTranspose) {
      return Refuse("a constant varies along what is reshaped");
    }
    Tensor padded = constant;
    padded.shape.insert(padded.shape.begin(),
                        permutation_.size() - constant.shape.size(), 1);
    Permutation inverse(permutation_.size());
    for (size_t d = 0; d < inverse.size(); ++d) inverse[permutation_[d]] = d;
    const TensorPtr moved = TransposeTensor(padded, inverse);
    moved_.operands[at] =
        rewriter_.Declare(graph_.value(operand).name + "_transposed",
                          {moved->type, moved->shape, std::nullopt}, moved);
    SayPermuted(operand, moved_.operands[at], inverse);
    return true;
  }

  // `to` is `from` with leading dimensions of 1 and then permuted.
  void SayPermuted(ValueId from, ValueId to, const Permutation& permutation) {
    ConstantMove move = {from, to, ConstantMove::Kind::kTransformed,
                         "broadcast and permuted as the other operand"};
    move.how = {{Derivation::Kind::kNamed}};
    move.verify = [=](const Graph& graph, const ConstantMove&) {
      Tensor wide = *graph.value(from).constant;
      wide.shape.insert(wide.shape.begin(),
                        permutation.size() - wide.shape.size(), 1);
      return *PermuteTensor(wide, permutation) == *graph.value(to).constant
                 ? ""
                 : "is permuted in another way";
    };
    proposal_.sheet.constants.push_back(std::move(move));
  }

  bool Apply() {
    const Value old = graph_.value(node_.results[0]);
    const TensorType before = {old.type.element,
                               graph_.value(mover_.operands[0]).type.shape,
                               std::nullopt};
    const ValueId inner = rewriter_.Declare(old.name + "_before", before);
    const ValueId result = rewriter_.Declare(old.name, old.type);
    proposal_.removed.push_back(id_);
    moved_.results = {inner};
    Node behind = mover_;
    behind.operands[0] = inner;
    behind.results = {result};
    behind.provenance = provenance_;
    proposal_.added = {moved_, behind};
    proposal_.sheet.results = {{node_.results[0], result}};
    SayNamesLost(proposal_, graph_);
    return rewriter_.Apply(std::move(proposal_));
  }

  Rewriter& rewriter_;
  const Graph& graph_;
  NodeId id_;
  const Node node_;
  Node moved_;
  const Node mover_;
  Permutation permutation_;
  Provenance provenance_;
  Proposal proposal_;
};

// The movement that `node` could pass, invalid if there is none.
NodeId MoverBefore(const Graph& graph, const Node& node) {
  if (!IsElementwise(OpOf(node)) || !node.steps.empty() ||
      node.results.size() != 1) {
    return {};
  }
  const size_t inputs = IsPair(OpOf(node)) ? 2 : 1;
  for (size_t at = 0; at < inputs; ++at) {
    const NodeId mover = MoverAt(graph, node, at);
    if (mover.valid()) return mover;
  }
  return {};
}

}  // namespace

bool sink_movement(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  // In order, so that a movement is met again further down.
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Node& node = rewriter.graph().node(id);
    if (node.erased) continue;
    const NodeId mover = MoverBefore(rewriter.graph(), node);
    if (mover.valid()) changed |= Sinking(rewriter, id, mover).Run();
  }
  return changed;
}

}  // namespace fold::passes
