#include "compiler/passes/stage_check.h"

#include <cmath>
#include <vector>

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

std::string TypeFault(const Graph& graph, const Node& node) {
  for (ValueId id : node.results) {
    if (!id.valid()) continue;
    if (graph.value(id).type.element == ElementType::undefined) {
      return "value '" + graph.value(id).name + "' has no type";
    }
  }
  return "";
}

std::string ImportedFault(const Graph& graph, const Node& node) {
  std::string fault = TypeFault(graph, node);
  if (!fault.empty()) return fault;
  if (!node.steps.empty()) return "it has steps, which no file has";
  if (OpOf(node) == Op::kRequantize) return "no file has its operator";
  for (const auto* values : {&node.operands, &node.results}) {
    for (ValueId id : *values) {
      if (id.valid() && Encoded(graph, id)) {
        return "value '" + graph.value(id).name + "' is annotated already";
      }
    }
  }
  return "";
}

// Why the encoding of a value is none; "" if it is one.
std::string EncodingFault(const TensorType& type) {
  const Encoding& e = *type.encoding;
  if (e.scales.empty() || e.scales.size() != e.zero_points.size()) {
    return "has not as many zero points as scales";
  }
  for (double scale : e.scales) {
    if (!(scale > 0) || std::isinf(scale)) return "has a scale that is none";
  }
  if (IsInteger(type.element) && ElementSize(type.element) <= 4) {
    const int64_t low = LowestCode(type.element),
                  high = HighestCode(type.element);
    for (int64_t zero : e.zero_points) {
      if (zero < low || zero > high) return "has a zero point beyond its codes";
    }
    if (e.code_low.value_or(low) > e.code_high.value_or(high)) {
      return "has an empty range of codes";
    }
  }
  if (e.per_tensor()) {
    return e.scales.size() == 1 ? "" : "has many scales and no axis";
  }
  if (e.axis >= static_cast<int>(type.shape.size())) return "has no such axis";
  const int64_t size = type.shape[e.axis];
  if (e.block > 0) return "";  // annotate has counted the blocks
  return static_cast<int64_t>(e.scales.size()) == size
             ? ""
             : "has not a scale for each index of its axis";
}

std::string EncodingsFault(const Graph& graph, const Node& node) {
  for (const auto* values : {&node.operands, &node.results}) {
    for (ValueId id : *values) {
      if (!id.valid() || !Encoded(graph, id)) continue;
      const std::string fault = EncodingFault(graph.value(id).type);
      if (fault.empty()) continue;
      return "the quantization of '" + graph.value(id).name + "' " + fault;
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
  return bound ? EncodingsFault(graph, node)
               : "its quantization is not bound to a type";
}

// Identity, Cast to the same type, Concat of one: gives what it gets. One that
// changes a quantization is there on purpose (recast.h).
bool GivesWhatItGets(const Graph& graph, const Node& node) {
  const Op op = OpOf(node);
  const bool may = op == Op::kIdentity || op == Op::kCast ||
                   (op == Op::kConcat && node.operands.size() == 1);
  return may && graph.value(node.operands[0]).type ==
                    graph.value(node.results[0]).type;
}

// A Clip of codes with constant bounds, the only reader of a QuantizeLinear.
bool IsCodeClip(const Graph& graph, const Node& node) {
  if (OpOf(node) != Op::kClip ||
      !ProducerOf(graph, node.operands[0], Op::kQuantizeLinear) ||
      !graph.HasSingleUse(node.operands[0])) {
    return false;
  }
  std::vector<int64_t> bounds;
  for (size_t i = 1; i < 3; ++i) {
    const ValueId bound = OperandAt(node, i);
    const ElementType type = graph.value(node.operands[0]).type.element;
    if (bound.valid() && !graph.IsConstant(bound)) return false;
    bounds.push_back(bound.valid() ? graph.value(bound).constant->integer(0)
                     : i == 1      ? LowestCode(type)
                                   : HighestCode(type));
  }
  return bounds[0] <= bounds[1];
}

// A Min or Max of a value and one constant number: half of a Clip.
bool IsHalfAClip(const Graph& graph, const Node& node) {
  const Op op = OpOf(node);
  if ((op != Op::kMin && op != Op::kMax) || node.operands.size() != 2) {
    return false;
  }
  const bool first = graph.IsConstant(node.operands[0]);
  if (first == graph.IsConstant(node.operands[1])) return false;
  const ValueId bound = node.operands[first ? 0 : 1];
  const ValueId data = node.operands[first ? 1 : 0];
  return graph.value(bound).constant->size() == 1 &&
         graph.value(data).type.shape ==
             graph.value(node.results[0]).type.shape;
}

std::string SimplifiedFault(const Graph& graph, const Node& node) {
  const Op op = OpOf(node);
  if (IsHalfAClip(graph, node)) return "it is half of a Clip";
  if (op == Op::kConstant) return "a Constant is left";
  if (GivesWhatItGets(graph, node)) return "it gives what it gets";
  if (IsCodeClip(graph, node)) {
    return "its Clip of codes is not folded into the QuantizeLinear";
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

// A requantization that changes no code.
bool ChangesNothing(const Graph& graph, const Node& node) {
  if (OpOf(node) != Op::kRequantize || !node.steps.empty()) return false;
  const TensorType& from = graph.value(node.operands[0]).type;
  const TensorType& to = graph.value(node.results[0]).type;
  return from.encoding && to.encoding && from == to;
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
  if (ChangesNothing(graph, node)) return "its requantization changes nothing";
  for (ValueId id : node.results) {
    if (id.valid() && (graph.IsOutput(id) || !graph.UsersOf(id).empty())) {
      return "";
    }
  }
  return "nothing needs it";
}

using NodeFault = std::string (*)(const Graph& graph, const Node& node);

// What holds of each node at the stage; null: nothing that is looked at here.
NodeFault FaultAt(Stage stage) {
  switch (stage) {
    case Stage::imported:
      return ImportedFault;
    case Stage::annotated:
      return AnnotatedFault;
    case Stage::simplified:
      return SimplifiedFault;
    case Stage::folded:
      return FoldedFault;
    case Stage::fused:
      return FusedFault;
    default:
      return nullptr;
  }
}

std::string FirstFault(const Graph& graph, NodeFault check) {
  for (NodeId id : graph.order()) {
    const std::string fault = check(graph, graph.node(id));
    if (!fault.empty()) return "node '" + UserName(graph, id) + "': " + fault;
  }
  return "";
}

}  // namespace

std::string CheckStage(const Graph& graph, Stage stage) {
  const NodeFault check = FaultAt(stage);
  return check ? FirstFault(graph, check) : "";
}

std::string CheckInvariants(const Graph& graph, Stage stage) {
  std::string fault = CheckStage(graph, stage);
  if (!fault.empty() || stage == Stage::imported) return fault;
  fault = FirstFault(graph, TypeFault);
  for (int s = static_cast<int>(Stage::annotated);
       s < static_cast<int>(stage) && fault.empty(); ++s) {
    fault = CheckStage(graph, static_cast<Stage>(s));
    if (!fault.empty()) {
      fault += " (stage " + std::string(StageName(static_cast<Stage>(s))) + ")";
    }
  }
  return fault;
}

std::string CheckNodes(const Graph& graph) {
  std::string fault = CheckStructure(graph);
  if (!fault.empty()) return fault;
  for (NodeId id : graph.order()) {
    const std::string wrong = Ops().Check(graph, graph.node(id));
    if (!wrong.empty()) return "node '" + UserName(graph, id) + "': " + wrong;
  }
  return "";
}

}  // namespace fold
