// c / x becomes a reciprocal with a coefficient, for a target that has one and
// for no other. Only once quantizations are bound: the division's operands are
// then known to be codes with a scale, and both stay where they are. c remains
// an operand, with the encoding of its type if it has one, so no scale is
// turned into something else; only the operands change places.
#include "compiler/passes/dequantized.h"
#include "compiler/passes/pass.h"

namespace fold::passes {
namespace {

constexpr char kRule[] = "form_reciprocal";

// The constant dividend, with at most one number for each channel.
bool IsCoefficient(const Graph& graph, const Node& division) {
  const Tensor& c = *graph.value(division.operands[0]).constant;
  const Shape& shape = graph.value(division.operands[1]).type.shape;
  return IsFinite(c) &&
         AsChannelVector(c, shape, shape.size() > 1 ? 1 : 0).has_value();
}

// Another constant over the result, on its way to a QuantizeLinear: a table has
// both, and a reciprocal one alone.
bool IsDividedAgain(const Graph& graph, ValueId real) {
  while (graph.HasSingleUse(real)) {
    const Node& user = graph.node(graph.UsersOf(real).front());
    if (OpOf(user) == Op::kQuantizeLinear) return false;
    if (OpOf(user) == Op::kDiv && user.operands[1] == real) return true;
    real = user.results[0];
  }
  return false;
}

// Why `division`, of a constant by something, stays one; "" if it need not.
std::string Fault(const Graph& graph, const Node& division) {
  const ValueId x = division.operands[1], result = division.results[0];
  if (graph.value(x).type.shape != graph.value(result).type.shape) {
    return "the constant makes the result larger";
  }
  if (!IsCoefficient(graph, division)) {
    return "the constant is no finite number for each channel";
  }
  std::string fault = InputFault(graph, x, 2);
  if (!fault.empty()) return fault;
  if (IsDividedAgain(graph, result)) return "its result is divided again";
  return EndsInQuantize(graph, result) ? "" : "its result is not quantized";
}

bool Form(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node division = graph.node(id);
  const std::string fault = Fault(graph, division);
  if (!fault.empty()) {
    rewriter.Refuse(kRule, id, fault);
    return false;
  }
  const Value old = graph.value(division.results[0]);
  const ValueId result = rewriter.Declare(old.name, old.type);
  Node reciprocal = division;
  reciprocal.op = ToId(Op::kScaledReciprocal);
  reciprocal.attributes.clear();
  reciprocal.operands = {division.operands[1], division.operands[0]};
  reciprocal.results = {result};
  Proposal proposal;
  proposal.removed = {id};
  proposal.added = {reciprocal};
  proposal.sheet.rule = kRule;
  proposal.sheet.results = {{division.results[0], result}};
  proposal.sheet.constants = {{division.operands[0], division.operands[0],
                               ConstantMove::Kind::kMoved, ""}};
  return rewriter.Apply(std::move(proposal));
}

}  // namespace

bool form_reciprocal(Rewriter& rewriter, const PassEnvironment& environment) {
  const TargetDescriptor* target = environment.target;
  if (!target || !FindTargetOp(*target, "reciprocal")) return false;
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Graph& graph = rewriter.graph();
    const Node& node = graph.node(id);
    if (OpOf(node) != Op::kDiv || !node.steps.empty() ||
        !graph.IsConstant(node.operands[0]) ||
        graph.IsConstant(node.operands[1]) ||
        !IsReal(graph.value(node.operands[1]).type)) {
      continue;
    }
    changed |= Form(rewriter, id);
  }
  return changed;
}

}  // namespace fold::passes
