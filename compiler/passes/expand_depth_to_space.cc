// DepthToSpace is a Reshape, a Transpose and a Reshape: three movements that
// every later pass knows.
#include "compiler/ops/depth_to_space.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

constexpr char kRule[] = "expand_depth_to_space";

Node Mover(const Node& from, Op op, std::vector<ValueId> operands,
           ValueId result) {
  Node node;
  node.op = ToId(op);
  node.name = from.name;
  node.operands = std::move(operands);
  node.results = {result};
  node.provenance = from.provenance;
  return node;
}

bool Expand(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node node = graph.node(id);
  const TensorType x = graph.value(node.operands[0]).type;
  const auto parts = PartsOfDepthToSpace(node, x.shape);
  if (!parts) {
    rewriter.Refuse(kRule, id, "its blocks do not fit the channels");
    return false;
  }
  const ValueId old = node.results[0];
  const TensorType type = graph.value(old).type;
  const std::string name = graph.value(old).name;
  const auto shape_constant = [&](const char* what, const Shape& shape) {
    const Shape one = {static_cast<int64_t>(shape.size())};
    return rewriter.Declare(name + what, {ElementType::i64, one, std::nullopt},
                            MakeIntegerTensor(ElementType::i64, one, shape));
  };
  TensorType between = type;
  between.shape = parts->split;
  const ValueId split = rewriter.Declare(name + "_split", between);
  for (size_t d = 0; d < parts->perm.size(); ++d) {
    between.shape[d] = parts->split[parts->perm[d]];
  }
  const ValueId moved = rewriter.Declare(name + "_moved", between);
  const ValueId result = rewriter.Declare(name, type);
  Node transpose = Mover(node, Op::kTranspose, {split}, moved);
  transpose.attributes["perm"] = parts->perm;
  Proposal proposal;
  proposal.removed = {id};
  proposal.added = {
      Mover(node, Op::kReshape,
            {node.operands[0], shape_constant("_split_shape", parts->split)},
            split),
      transpose,
      Mover(node, Op::kReshape,
            {moved, shape_constant("_shape", parts->result)}, result)};
  proposal.sheet.rule = kRule;
  proposal.sheet.results = {{old, result}};
  for (const auto& [at, value] : {std::pair(0, split), std::pair(2, result)}) {
    SayMadeOf(proposal.sheet, proposal.added[at].operands[1],
              {Slot::Kind::kShape}, value);
  }
  return rewriter.Apply(std::move(proposal));
}

}  // namespace

bool expand_depth_to_space(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    if (OpOf(rewriter.graph().node(id)) == Op::kDepthToSpace) {
      changed |= Expand(rewriter, id);
    }
  }
  return changed;
}

}  // namespace fold::passes
