// Folding proper: between a DequantizeLinear and a QuantizeLinear an operator
// computes on real numbers that integers stand for, so it can take the
// integers. Linear operators, sums, products and averages give a real number
// still (their accumulator); fuse_requantize then gives it its integer type.
// Operators that move elements let the DequantizeLinear pass behind them.
#include "compiler/passes/affine_tail.h"
#include "compiler/passes/dequantized.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/sink_dequantize.h"

namespace fold::passes {
namespace {

constexpr char kRule[] = "fold_qdq";

// A value like result 0 of `node`, to take its place.
ValueId LikeResult(Rewriter& rewriter, const Node& node) {
  const Value value = rewriter.graph().value(node.results[0]);
  return rewriter.Declare(value.name, value.type);
}

// A bias: constant real numbers, or constant integers behind a
// DequantizeLinear.
std::optional<ValueId> BiasOperand(IntegerRewrite& rewrite, const Graph& graph,
                                   ValueId bias) {
  if (!bias.valid() || graph.IsConstant(bias)) return bias;
  const Node* dequantize = ProducerOf(graph, bias, Op::kDequantizeLinear);
  if (!dequantize || !graph.IsConstant(dequantize->operands[0])) {
    return std::nullopt;
  }
  return rewrite.Codes(bias);
}

bool FoldLinear(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node node = graph.node(id);
  const std::string fault = LinearFault(graph, node);
  if (!fault.empty()) {
    rewriter.Refuse(kRule, id, fault);
    return false;
  }
  IntegerRewrite rewrite(rewriter, id, kRule);
  const auto x = rewrite.Codes(node.operands[0]);
  const auto w = rewrite.Codes(node.operands[1]);
  std::vector<ValueId> operands = node.operands;
  const bool has_bias = OpOf(node) != Op::kMatMul && operands.size() > 2;
  std::optional<ValueId> bias;
  if (has_bias) {
    bias = BiasOperand(rewrite, graph, operands[2]);
    if (!bias) {
      rewriter.Refuse(kRule, id, "the bias is not constant");
      return false;
    }
    operands[2] = *bias;
  }
  if (!x || !w) {
    rewriter.Refuse(kRule, id, "an operand is read with two quantizations");
    return false;
  }
  operands[0] = *x;
  operands[1] = *w;
  const ValueId result = LikeResult(rewriter, node);
  Node integer = rewrite.Successor(OpOf(node));
  integer.operands = operands;
  integer.results = {result};
  rewrite.Add(integer);
  return rewrite.Apply(result);
}

// Add, Sub, Mul, Div of two values, one of which may be constant; averages and
// reciprocals of one.
bool FoldArithmetic(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node node = graph.node(id);
  const bool pair = IsPair(OpOf(node));
  const int widest = OpOf(node) == Op::kScaledReciprocal ? 2 : 1;
  const std::string fault = pair ? PairFault(graph, node)
                                 : InputFault(graph, node.operands[0], widest);
  if (!fault.empty()) {
    rewriter.Refuse(kRule, id, fault);
    return false;
  }
  if (!EndsInQuantize(graph, node.results[0])) {
    rewriter.Refuse(kRule, id, "its result is not quantized");
    return false;
  }
  IntegerRewrite rewrite(rewriter, id, kRule);
  std::vector<ValueId> operands = node.operands;
  for (size_t i = 0; i < (pair ? 2 : 1); ++i) {
    if (graph.IsConstant(node.operands[i])) continue;
    const auto codes = rewrite.Codes(node.operands[i]);
    if (!codes) {
      rewriter.Refuse(kRule, id, "an operand is read with two quantizations");
      return false;
    }
    operands[i] = *codes;
  }
  const ValueId result = LikeResult(rewriter, node);
  Node integer = rewrite.Successor(OpOf(node));
  integer.operands = operands;
  integer.results = {result};
  rewrite.Add(integer);
  return rewrite.Apply(result);
}

// A QuantizeLinear, or a step on the way to one, right behind a
// DequantizeLinear: a requantization takes the integers in between.
bool FoldTail(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node node = graph.node(id);
  const ValueId real = OpOf(node) == Op::kQuantizeLinear
                           ? node.operands[0]
                           : TailInput(graph, node);
  std::string fault = InputFault(graph, real, 2);
  if (fault.empty() && OpOf(node) == Op::kQuantizeLinear) {
    const auto& encoding = graph.value(node.results[0]).type.encoding;
    if (!encoding->per_tensor()) fault = "it has more than one scale";
  }
  if (!fault.empty()) {
    rewriter.Refuse(kRule, id, fault);
    return false;
  }
  IntegerRewrite rewrite(rewriter, id, kRule);
  const auto codes = rewrite.Codes(real);
  if (!codes) {
    rewriter.Refuse(kRule, id, "its input is read with two quantizations");
    return false;
  }
  TensorType type = graph.value(real).type;
  const std::string name = graph.value(real).name;
  const ValueId between = rewriter.Declare(name, type);
  const ValueId result = LikeResult(rewriter, node);
  Node requantize;
  requantize.op = ToId(Op::kRequantize);
  requantize.name = node.name;
  requantize.operands = {*codes};
  requantize.results = {between};
  Node tail = rewrite.Successor(OpOf(node));
  tail.operands = node.operands;
  for (ValueId& operand : tail.operands) {
    if (operand == real) operand = between;
  }
  tail.results = {result};
  rewrite.Add(requantize);
  rewrite.Add(tail);
  return rewrite.Apply(result);
}

// A Concat of values with different quantizations, quantized again: each value
// is requantized on its way in. Returns false if it is not one.
bool FoldConcat(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node node = graph.node(id);
  for (ValueId operand : node.operands) {
    if (!InputFault(graph, operand).empty()) return false;
  }
  if (!graph.HasSingleUse(node.results[0])) return false;
  const NodeId user = graph.UsersOf(node.results[0]).front();
  const Node quantize = graph.node(user);
  if (OpOf(quantize) != Op::kQuantizeLinear) return false;
  IntegerRewrite rewrite(rewriter, id, kRule);
  Node concat = node;
  for (ValueId& operand : concat.operands) {
    const auto codes = rewrite.Codes(operand);
    if (!codes) {
      rewriter.Refuse(kRule, id, "an operand is read with two quantizations");
      return false;
    }
    operand = *codes;
  }
  const ValueId result = LikeResult(rewriter, quantize);
  rewrite.AlsoRemove(user);
  SayParametersAbsorbed(rewrite.sheet(), graph, quantize, result);
  concat.results = {result};
  rewrite.Add(concat);
  return rewrite.ApplyFor(quantize.results[0], result);
}

bool BehindDequantize(const Graph& graph, ValueId id) {
  return ProducerOf(graph, id, Op::kDequantizeLinear) != nullptr;
}

bool FoldNode(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node& node = graph.node(id);
  const Op op = OpOf(node);
  switch (op) {
    case Op::kConv:
    case Op::kGemm:
    case Op::kMatMul:
      return BehindDequantize(graph, node.operands[0]) &&
             FoldLinear(rewriter, id);
    case Op::kAveragePool:
    case Op::kGlobalAveragePool:
    case Op::kReduceMean:
    case Op::kScaledReciprocal:
      return BehindDequantize(graph, node.operands[0]) &&
             FoldArithmetic(rewriter, id);
    case Op::kQuantizeLinear:
      return BehindDequantize(graph, node.operands[0]) &&
             FoldTail(rewriter, id);
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
      if (TailKind(graph, node) != Tail::kNone) break;
      return (BehindDequantize(graph, node.operands[0]) ||
              BehindDequantize(graph, node.operands[1])) &&
             FoldArithmetic(rewriter, id);
    default:
      if (CanSinkDequantize(graph, node)) {
        return SinkDequantize(rewriter, id, kRule);
      }
      if (op == Op::kConcat) return FoldConcat(rewriter, id);
      if (const std::string fault = SinkFault(graph, node); !fault.empty()) {
        rewriter.Refuse(kRule, id, fault);
        return false;
      }
  }
  return TailKind(graph, node) != Tail::kNone &&
         BehindDequantize(graph, TailInput(graph, node)) &&
         EndsInQuantize(graph, node.results[0]) && FoldTail(rewriter, id);
}

}  // namespace

bool fold_qdq(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  // In order, so that a DequantizeLinear that sinks is met again further down.
  for (bool again = true; again;) {
    again = false;
    const std::vector<NodeId> order = rewriter.graph().order();
    for (NodeId id : order) {
      if (rewriter.graph().node(id).erased) continue;
      again |= FoldNode(rewriter, id);
    }
    changed |= again;
  }
  return changed;
}

}  // namespace fold::passes
