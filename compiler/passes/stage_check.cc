#include "compiler/passes/stage_check.h"

#include "compiler/annotate/qlinear_operands.h"
#include "compiler/annotate/qonnx.h"
#include "compiler/ops/op_spec.h"
#include "compiler/passes/affine_tail.h"
#include "compiler/passes/dequantized.h"
#include "compiler/passes/pattern.h"

namespace fold {
namespace {

bool Encoded(const Graph& graph, ValueId id) {
  return graph.value(id).type.encoding.has_value();
}

std::string ImportedFault(const Graph& graph, const Node& node) {
  for (ValueId id : node.results) {
    if (!id.valid()) continue;
    if (graph.value(id).type.element == ElementType::undefined) {
      return "value '" + graph.value(id).name + "' has no type";
    }
  }
  return "";
}

std::string AnnotatedFault(const Graph& graph, const Node& node) {
  const Op op = OpOf(node);
  const bool bound =
      op == Op::kQuantizeLinear     ? Encoded(graph, node.results[0])
      : op == Op::kDequantizeLinear ? Encoded(graph, node.operands[0])
      // A QGemm without output parameters gives real numbers.
      : IsQLinear(op) && (op != Op::kQGemm || node.operands.size() > 7)
          ? Encoded(graph, node.results[0])
      : IsQonnx(op) ? Encoded(graph, node.results[0])
                    : true;
  return bound ? "" : "its quantization is not bound to a type";
}

std::string SimplifiedFault(const Graph& graph, const Node& node) {
  const Op op = OpOf(node);
  if (op == Op::kConstant || op == Op::kIdentity) {
    return "a Constant or Identity is left";
  }
  for (ValueId id : node.results) {
    if (id.valid() && IsFloat(graph.value(id).type.element) &&
        Encoded(graph, id)) {
      return "its fake-quantization is in one piece";
    }
  }
  if (op == Op::kDepthToSpace) return "a DepthToSpace is left";
  if (EvaluateNode(graph, node)) {
    return "all its operands are constant and it is not evaluated";
  }
  if (TailKind(graph, node) == Tail::kBatchNorm) {
    const ValueId input = TailInput(graph, node);
    const Node* head = ProducerOf(graph, input);
    const bool linear =
        head && (OpOf(*head) == Op::kConv || OpOf(*head) == Op::kGemm ||
                 OpOf(*head) == Op::kMatMul);
    if (linear && graph.HasSingleUse(input)) {
      return "its BatchNormalization is not folded into the linear op";
    }
  }
  return "";
}

// An operator between DequantizeLinear and QuantizeLinear that could take the
// integers.
bool IsUnfolded(const Graph& graph, const Node& node) {
  switch (OpOf(node)) {
    case Op::kConv:
    case Op::kGemm:
    case Op::kMatMul:
      return LinearFault(graph, node).empty();
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
      if (!PairFault(graph, node).empty()) return false;
      break;
    case Op::kAveragePool:
    case Op::kGlobalAveragePool:
    case Op::kReduceMean:
      if (!InputFault(graph, node.operands[0]).empty()) return false;
      break;
    case Op::kScaledReciprocal:
      if (!InputFault(graph, node.operands[0], 2).empty()) return false;
      break;
    default:
      return false;
  }
  return EndsInQuantize(graph, node.results[0]);
}

// A conversion stands at the signature, at a float island or at an integer
// op's real result.
std::string FoldedFault(const Graph& graph, const Node& node) {
  const Op op = OpOf(node);
  if (IsQLinear(op)) return "a QLinear operator is left";
  if (IsUnfolded(graph, node)) return "it does not take its integers";
  if (op != Op::kQuantizeLinear) return "";
  const Node* before = ProducerOf(graph, node.operands[0]);
  if (!before || OpOf(*before) != Op::kDequantizeLinear) return "";
  const TensorType& codes = graph.value(before->operands[0]).type;
  const TensorType& made = graph.value(node.results[0]).type;
  const bool foldable = codes.encoding && made.encoding->per_tensor() &&
                        codes.encoding->per_tensor() &&
                        ElementSize(codes.element) <= 2 &&
                        !graph.IsConstant(before->operands[0]);
  return foldable ? "a fake-quantization is left" : "";
}

// A step that is to become one of the integer op before it.
bool IsLooseStep(const Graph& graph, const Node& node) {
  if (TailKind(graph, node) == Tail::kNone) return false;
  const ValueId input = TailInput(graph, node);
  const Node* head = ProducerOf(graph, input);
  return head && IsIntegerOp(graph, *head) && graph.HasSingleUse(input) &&
         EndsInQuantize(graph, node.results[0]);
}

std::string FusedFault(const Graph& graph, const Node& node) {
  if (OpOf(node) == Op::kQuantizeLinear) {
    const Node* head = ProducerOf(graph, node.operands[0]);
    if (head && IsIntegerOp(graph, *head) &&
        graph.HasSingleUse(node.operands[0])) {
      return "its quantization is not fused into the op before it";
    }
  }
  if (IsLooseStep(graph, node)) return "it is not fused into the op before it";
  for (ValueId id : node.results) {
    if (id.valid() && (graph.IsOutput(id) || !graph.UsersOf(id).empty())) {
      return "";
    }
  }
  return "nothing needs it";
}

}  // namespace

std::string CheckStage(const Graph& graph, Stage stage) {
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    std::string fault;
    switch (stage) {
      case Stage::imported:
        fault = ImportedFault(graph, node);
        break;
      case Stage::annotated:
        fault = AnnotatedFault(graph, node);
        break;
      case Stage::simplified:
        fault = SimplifiedFault(graph, node);
        break;
      case Stage::folded:
        fault = FoldedFault(graph, node);
        break;
      case Stage::fused:
        fault = FusedFault(graph, node);
        break;
      default:
        return "";
    }
    if (!fault.empty()) return "node '" + UserName(graph, id) + "': " + fault;
  }
  return "";
}

std::string CheckNodes(const Graph& graph) {
  const std::string fault = CheckStructure(graph);
  if (!fault.empty()) return fault;
  for (NodeId id : graph.order()) {
    const std::string wrong = Ops().Check(graph, graph.node(id));
    if (!wrong.empty()) return "node '" + UserName(graph, id) + "': " + wrong;
  }
  return "";
}

}  // namespace fold
