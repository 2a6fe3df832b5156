#include "compiler/lower/lower.h"

#include <algorithm>
#include <set>

#include "compiler/lower/lowering.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/pattern.h"

namespace fold {
namespace {

bool LowerIntegerOp(Lowering& lowering, NodeId id) {
  const Op op = OpOf(lowering.graph.node(id));
  if (IsLinear(op)) return LowerLinear(lowering, id);
  switch (op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
      return LowerArithmetic(lowering, id);
    case Op::kRequantize:
    case Op::kScaledReciprocal:
      return LowerTable(lowering, id);
    default:
      return LowerAverage(lowering, id);
  }
}

bool IsMovement(const Graph& graph, const Node& node) {
  const Op op = OpOf(node);
  const bool integer = IsInteger(graph.value(node.operands[0]).type.element);
  return MovesElements(op) || op == Op::kConcat || op == Op::kPad ||
         ((op == Op::kClip || op == Op::kIdentity) && integer);
}

// Nothing but real numbers goes into an island.
bool OperandsAreReal(const Lowering& lowering, const Node& node) {
  for (ValueId id : node.operands) {
    if (id.valid() && !lowering.graph.IsConstant(id) &&
        !IsReal(lowering.type(id))) {
      return false;
    }
  }
  return true;
}

void WarnUnannotated(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  if (!IsLinear(OpOf(node)) || !lowering.graph.IsConstant(node.operands[1])) {
    return;
  }
  lowering.sink.Add(DiagnosticCode::unannotated_weights,
                    UserName(lowering.graph, id),
                    "its weights carry no quantization; it is evaluated in "
                    "double and not quantized");
}

// Kernels have at least one element to work on.
bool HasElements(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  std::vector<ValueId> values = node.operands;
  values.insert(values.end(), node.results.begin(), node.results.end());
  for (ValueId v : values) {
    if (v.valid() && ElementCount(lowering.type(v).shape) < 1) {
      return lowering.Error(
          DiagnosticCode::shape_mismatch, id,
          "value '" + lowering.graph.value(v).name + "' has no elements");
    }
  }
  return true;
}

bool LowerNode(Lowering& lowering, NodeId id) {
  const Graph& graph = lowering.graph;
  const Node& node = graph.node(id);
  const Op op = OpOf(node);
  if (!HasElements(lowering, id)) return false;
  if (op == Op::kQuantizeLinear || op == Op::kDequantizeLinear) {
    return LowerConversion(lowering, id);
  }
  if (!node.operands.empty()) {
    if (IsIntegerOp(graph, node)) return LowerIntegerOp(lowering, id);
    if (IsMovement(graph, node)) return LowerMovement(lowering, id);
    if (OperandsAreReal(lowering, node)) {
      WarnUnannotated(lowering, id);
      return LowerIsland(lowering, id);
    }
  }
  return lowering.Error(
      DiagnosticCode::unsupported_operator, id,
      std::string(Ops().Mnemonic(node.op)) +
          " on operands of these types cannot be computed; give it constant "
          "or quantized operands");
}

void AddTaps(Lowering& lowering) {
  for (uint32_t i = 0; i < lowering.graph.value_count(); ++i) {
    const ValueId id(i);
    const Value& value = lowering.graph.value(id);
    if (!value.type.encoding || value.constant || !lowering.IsHeld(id)) {
      continue;
    }
    const Perm perm = lowering.LayoutOf(id);
    std::vector<std::string> names = value.aliases;
    names.insert(names.begin(), value.name);
    // A tap is captured behind the op that writes its bytes.
    int tensor = lowering.Want(id, perm);
    while (lowering.program.alias_of[tensor] >= 0) {
      tensor = lowering.program.alias_of[tensor];
    }
    for (const std::string& name : names) {
      if (!lowering.options.tap_names.count(name)) continue;
      auto tap = std::make_unique<format_::TapT>();
      tap->name = name;
      tap->tensor = tensor;
      tap->shape = value.type.shape;
      tap->permutation = perm;
      lowering.program.artifact.taps.push_back(std::move(tap));
    }
  }
}

}  // namespace

bool Lower(const Graph& graph, const TargetDescriptor& target,
           const LowerOptions& options, Program* program, Diagnostics* sink) {
  Lowering lowering(graph, target, options, program, sink);
  if (!LowerInputs(lowering)) return false;
  // All faults are reported; what follows from one of them is not a fault.
  std::set<ValueId> lost;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const bool cut = std::any_of(node.operands.begin(), node.operands.end(),
                                 [&](ValueId v) { return lost.count(v) > 0; });
    if (cut || !LowerNode(lowering, id)) {
      lost.insert(node.results.begin(), node.results.end());
    }
  }
  if (sink->has_error() || !LowerOutputs(lowering)) return false;
  if (sink->has_error()) return false;
  if (options.taps) AddTaps(lowering);
  program->artifact.format_version = 1;
  program->artifact.target = target.name;
  return true;
}

}  // namespace fold
