// Operators that move or select integers: Reshape and its relatives, Transpose,
// Concat, Pad, MaxPool, a Clip on codes, and relabelling of encodings.
#include "compiler/ops/movement.h"

#include <algorithm>

#include "compiler/exact/table_entry.h"
#include "compiler/lower/pool_counts.h"
#include "compiler/lower/requantization.h"
#include "compiler/ops/ops.h"

namespace fold {
namespace {

bool LowerMaxPool(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  const TensorType& x = lowering.type(node.operands[0]);
  const size_t rank = x.shape.size();
  const bool real = !x.encoding;
  format_::PoolParametersT p;
  if (!FillWindow(node, x.shape, &p) || rank > 4) {
    return lowering.Error(DiagnosticCode::unsupported_operator, id,
                          "a pool over three or more dimensions");
  }
  if (node.results.size() > 1 && node.results[1].valid()) {
    return lowering.Error(DiagnosticCode::unsupported_operator, id,
                          "MaxPool's second output, Indices, is not supported");
  }
  const Perm perm = real ? IdentityPerm(rank) : ChannelsLast(rank);
  const int from = lowering.Want(node.operands[0], perm);
  const int to = lowering.AddValue(node.results[0], perm);
  format_::OpT& op = lowering.AddOp(
      id, real ? format_::Opcode::F64_MAX_POOL : format_::Opcode::MAX_POOL,
      {from}, {to});
  op.parameters.Set(std::move(p));
  if (real) op.exactness = format_::Exactness::FLOAT;
  return true;
}

bool LowerReshape(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  const ValueId from = node.operands[0], to = node.results[0];
  const int tensor =
      lowering.Want(from, IdentityPerm(lowering.type(from).shape.size()));
  const Shape& shape = lowering.type(to).shape;
  const int alias =
      lowering.Alias(tensor, lowering.graph.value(to).name, shape);
  lowering.Hold(to, alias, IdentityPerm(shape.size()));
  return true;
}

// Another name, or another quantization, for the same codes.
bool LowerIdentity(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  const Perm perm = lowering.LayoutOf(node.operands[0]);
  const int tensor = lowering.Want(node.operands[0], perm);
  const ValueId to = node.results[0];
  lowering.Hold(to,
                lowering.Alias(tensor, lowering.graph.value(to).name,
                               lowering.shape(tensor)),
                perm);
  return true;
}

// A transposition is another name for the dimensions of the same bytes.
bool LowerTranspose(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  const ValueId from = node.operands[0], to = node.results[0];
  const auto perm = *PermutationOf(node, lowering.type(from).shape.size());
  const Perm held = lowering.LayoutOf(from);
  const int tensor = lowering.Want(from, held);
  Perm moved;
  for (int d : held) {
    const auto at = std::find(perm.begin(), perm.end(), d);
    moved.push_back(static_cast<int>(at - perm.begin()));
  }
  const int alias = lowering.Alias(tensor, lowering.graph.value(to).name,
                                   lowering.shape(tensor));
  lowering.Hold(to, alias, moved);
  return true;
}

// Codes of one quantization as codes of another: a table.
int Recode(Lowering& lowering, NodeId id, int tensor, const TensorType& from,
           const TensorType& to) {
  exact::TableProblem problem;
  problem.code_low = LowestCode(from.element);
  problem.code_high = HighestCode(from.element);
  problem.zero_point = from.encoding->zero_points[0];
  problem.scale = exact::FromDouble(from.encoding->scales[0]);
  problem.quantization = QuantizationOf(to, 0);
  std::vector<int64_t> entries;
  for (const exact::TableEntry& entry : exact::EvaluateTable(problem)) {
    entries.push_back(entry.code);
  }
  const TensorPtr table = MakeIntegerTensor(
      to.element, {static_cast<int64_t>(entries.size())}, entries);
  const std::string name = lowering.program.artifact.tensors[tensor]->name;
  const int constant = lowering.AddConstant(
      name + "/recode", FormatType(to.element), table->shape, table->bytes);
  const Shape shape = lowering.shape(tensor);
  const int recoded =
      lowering.AddTensor(name + "/recoded", FormatType(to.element), shape);
  lowering.AddOp(id, format_::Opcode::TABLE_1, {tensor, constant}, {recoded})
      .parameters.Set(format_::TableParametersT());
  return recoded;
}

bool LowerConcat(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  const TensorType& y = lowering.type(node.results[0]);
  const bool real = IsFloat(y.element);
  const Perm perm =
      real ? IdentityPerm(y.shape.size()) : lowering.LayoutOf(node.operands[0]);
  std::vector<int> parts;
  for (ValueId operand : node.operands) {
    int part = lowering.Want(operand, perm);
    const TensorType& x = lowering.type(operand);
    if (!real && y.encoding && x.encoding) {
      const bool one_scale =
          x.encoding->per_tensor() && y.encoding->per_tensor();
      const bool same = x.element == y.element &&
                        x.encoding->scales == y.encoding->scales &&
                        x.encoding->zero_points == y.encoding->zero_points;
      if (!same && (!one_scale || ElementSize(x.element) != 1)) {
        return lowering.Error(DiagnosticCode::unsupported_operator, id,
                              "its inputs have quantizations that cannot be "
                              "brought together");
      }
      if (!same) part = Recode(lowering, id, part, x, y);
    }
    parts.push_back(part);
  }
  int64_t axis = node.attribute<int64_t>("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(y.shape.size());
  format_::ConcatParametersT p;
  p.axis = PlaceOf(perm, axis);
  const int to = lowering.AddValue(node.results[0], perm);
  format_::OpT& op =
      lowering.AddOp(id, format_::Opcode::CONCAT, std::move(parts), {to});
  op.parameters.Set(p);
  if (real) op.exactness = format_::Exactness::FLOAT;
  return true;
}

bool LowerPad(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  const TensorType& x = lowering.type(node.operands[0]);
  const NodeView view(lowering.graph, node);
  const auto pads = PadsOf(view.view());
  const ValueId value = node.operands.size() > 2 ? node.operands[2] : ValueId();
  if (!pads || node.attribute<std::string>("mode", "constant") != "constant" ||
      !IsInteger(x.element) ||
      (value.valid() && !lowering.graph.IsConstant(value))) {
    return lowering.Error(DiagnosticCode::unsupported_attribute, id,
                          "a Pad other than with a constant on quantized "
                          "values");
  }
  const Perm perm = lowering.LayoutOf(node.operands[0]);
  format_::PadParametersT p;
  for (int d : perm) p.before.push_back((*pads)[d]);
  p.value =
      value.valid() ? lowering.graph.value(value).constant->integer(0) : 0;
  const int from = lowering.Want(node.operands[0], perm);
  const int to = lowering.AddValue(node.results[0], perm);
  lowering.AddOp(id, format_::Opcode::PAD, {from}, {to})
      .parameters.Set(std::move(p));
  return true;
}

// A Clip that stayed on codes of its own.
bool LowerCodeClip(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  const ElementType type = lowering.type(node.operands[0]).element;
  format_::ClampParametersT p;
  p.lo = LowestCode(type);
  p.hi = HighestCode(type);
  for (size_t i = 1; i < node.operands.size(); ++i) {
    if (!node.operands[i].valid()) continue;
    if (!lowering.graph.IsConstant(node.operands[i])) {
      return lowering.Error(DiagnosticCode::unsupported_operator, id,
                            "its bounds are not constant");
    }
    const int64_t bound =
        lowering.graph.value(node.operands[i]).constant->integer(0);
    (i == 1 ? p.lo : p.hi) = bound;
  }
  const Perm perm = lowering.LayoutOf(node.operands[0]);
  const int from = lowering.Want(node.operands[0], perm);
  const int to = lowering.AddValue(node.results[0], perm);
  lowering.AddOp(id, format_::Opcode::CLAMP, {from}, {to}).parameters.Set(p);
  return true;
}

}  // namespace

bool LowerMovement(Lowering& lowering, NodeId id) {
  switch (OpOf(lowering.graph.node(id))) {
    case Op::kMaxPool:
      return LowerMaxPool(lowering, id);
    case Op::kTranspose:
      return LowerTranspose(lowering, id);
    case Op::kIdentity:
      return LowerIdentity(lowering, id);
    case Op::kConcat:
      return LowerConcat(lowering, id);
    case Op::kPad:
      return LowerPad(lowering, id);
    case Op::kClip:
      return LowerCodeClip(lowering, id);
    default:
      return LowerReshape(lowering, id);
  }
}

}  // namespace fold
