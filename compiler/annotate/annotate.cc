#include "compiler/annotate/annotate.h"

#include <cmath>
#include <string>

#include "compiler/annotate/qlinear_operands.h"
#include "compiler/annotate/qonnx.h"
#include "compiler/ir/rewriter.h"
#include "compiler/ops/op_spec.h"

namespace fold {
namespace {

// Where a node states an encoding: operand places of scale and zero point.
struct Place {
  ValueId scale, zero;
  ElementType codes;
  Shape shape;
  int64_t axis, block;
};

class Reader {
 public:
  Reader(const Graph& graph, NodeId node, Diagnostics* sink)
      : graph_(graph), sink_(sink), user_(UserName(graph, node)) {}

  std::optional<Encoding> Read(const Place& place) const {
    const TensorPtr scale = ConstantOf(graph_, place.scale);
    const TensorPtr zero = ConstantOf(graph_, place.zero);
    if (!scale || (place.zero.valid() && !zero)) {
      Fault(DiagnosticCode::dynamic_quantization,
            "its scale or zero point is computed at run time; foldd needs "
            "constants");
      return std::nullopt;
    }
    Encoding encoding;
    encoding.source = user_;
    for (int64_t i = 0; i < scale->size(); ++i) {
      encoding.scales.push_back(scale->real(i));
    }
    if (!FitsAxis(place, *scale, encoding) || !GoodScales(encoding)) {
      return std::nullopt;
    }
    if (!ReadZeros(place, zero, encoding)) return std::nullopt;
    return encoding;
  }

 private:
  bool Fault(DiagnosticCode code, const std::string& message) const {
    return sink_->Add(code, user_, message);
  }

  bool FitsAxis(const Place& place, const Tensor& scale,
                Encoding& encoding) const {
    if (scale.size() == 1 && place.block == 0) return true;
    const auto rank = static_cast<int64_t>(place.shape.size());
    const int64_t axis = place.axis < 0 ? place.axis + rank : place.axis;
    if (axis < 0 || axis >= rank) {
      return Fault(DiagnosticCode::bad_axis,
                   "axis " + std::to_string(place.axis) +
                       " is outside a tensor of rank " + std::to_string(rank));
    }
    encoding.axis = static_cast<int>(axis);
    encoding.block = place.block;
    if (place.block == 0 && scale.size() != place.shape[axis]) {
      return Fault(DiagnosticCode::bad_axis,
                   std::to_string(scale.size()) + " scales do not fit the " +
                       std::to_string(place.shape[axis]) + " indices of axis " +
                       std::to_string(axis));
    }
    return true;
  }

  bool GoodScales(const Encoding& encoding) const {
    for (double scale : encoding.scales) {
      if (std::isfinite(scale) && scale > 0) continue;
      return Fault(DiagnosticCode::bad_scale,
                   "a scale is " + std::to_string(scale) +
                       "; it has to be finite and greater than zero");
    }
    return true;
  }

  bool ReadZeros(const Place& place, const TensorPtr& zero,
                 Encoding& encoding) const {
    encoding.zero_points.assign(encoding.scales.size(), 0);
    if (!zero) return true;
    if (!IsInteger(zero->type)) {
      return Fault(DiagnosticCode::unsupported_type,
                   "codes of type " + std::string(ElementTypeName(zero->type)) +
                       " are float; foldd folds integer codes");
    }
    if (zero->size() != 1 &&
        zero->size() != static_cast<int64_t>(encoding.scales.size())) {
      return Fault(DiagnosticCode::bad_zero_point,
                   std::to_string(zero->size()) + " zero points for " +
                       std::to_string(encoding.scales.size()) + " scales");
    }
    for (size_t i = 0; i < encoding.zero_points.size(); ++i) {
      encoding.zero_points[i] = zero->integer(zero->size() == 1 ? 0 : i);
    }
    (void)place;
    return true;
  }

  const Graph& graph_;
  Diagnostics* sink_;
  std::string user_;
};

ValueId OperandAt(const Node& node, size_t at) {
  return at < node.operands.size() ? node.operands[at] : ValueId();
}

// The first annotation of a value stands in its type.
void Attach(Graph& graph, ValueId id, const Encoding& encoding) {
  std::optional<Encoding>& slot = graph.mutable_value(id).type.encoding;
  if (!slot) slot = encoding;
}

ValueId ValueOf(const Node& node, const QLinearOperand& operand) {
  return operand.result ? node.results[0] : OperandAt(node, operand.value);
}

bool AnnotateQLinear(Graph& graph, NodeId id, Diagnostics* sink) {
  const Node& node = graph.node(id);
  const size_t before = sink->all().size();
  const auto operands = QLinearOperands(node);
  const auto stated = StatedEncodings(graph, id, sink);
  if (sink->all().size() > before) return false;
  std::optional<Encoding> x, w;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!stated[i]) continue;
    if (operands[i].value == 0 && !operands[i].result) x = stated[i];
    if (operands[i].weight) w = stated[i];
    Attach(graph, ValueOf(node, operands[i]), *stated[i]);
  }
  const ValueId bias = OperandAt(node, QLinearBias(node));
  if (bias.valid() && x && w) {
    Attach(graph, bias, BiasEncoding(*x, *w, UserName(graph, id)));
  }
  return true;
}

}  // namespace

std::optional<Encoding> EncodingOf(const Graph& graph, NodeId id,
                                   Diagnostics* sink) {
  const Node& node = graph.node(id);
  const bool quantize = OpOf(node) == Op::kQuantizeLinear;
  const ValueId codes = quantize ? node.results[0] : node.operands[0];
  const TensorType& type = graph.value(codes).type;
  auto encoding =
      Reader(graph, id, sink)
          .Read({OperandAt(node, 1), OperandAt(node, 2), type.element,
                 type.shape, node.attribute<int64_t>("axis", 1),
                 node.attribute<int64_t>("block_size", 0)});
  if (!encoding || !quantize) return encoding;
  if (node.attributes.count("code_low")) {
    encoding->code_low = node.attribute<int64_t>("code_low", 0);
  }
  if (node.attributes.count("code_high")) {
    encoding->code_high = node.attribute<int64_t>("code_high", 0);
  }
  encoding->rounding =
      ParseRounding(node.attribute<std::string>("rounding", "half_even"))
          .value_or(Rounding::kHalfEven);
  return encoding;
}

std::vector<std::optional<Encoding>> StatedEncodings(const Graph& graph,
                                                     NodeId id,
                                                     Diagnostics* sink) {
  const Node& node = graph.node(id);
  const Reader reader(graph, id, sink);
  std::vector<std::optional<Encoding>> stated;
  for (const QLinearOperand& operand : QLinearOperands(node)) {
    const ValueId value = ValueOf(node, operand);
    const ValueId scale = OperandAt(node, operand.scale);
    stated.emplace_back();
    if (!value.valid() || !scale.valid()) continue;
    const TensorType& type = graph.value(value).type;
    stated.back() = reader.Read({scale, OperandAt(node, operand.zero),
                                 type.element, type.shape, operand.axis, 0});
  }
  return stated;
}

Encoding BiasEncoding(const Encoding& x, const Encoding& w,
                      const std::string& source) {
  Encoding encoding;
  encoding.source = source;
  // The product of two float32 numbers is exact in a double.
  for (double s : w.scales) encoding.scales.push_back(s * x.scales[0]);
  encoding.zero_points.assign(encoding.scales.size(), 0);
  if (encoding.scales.size() > 1) encoding.axis = 0;
  return encoding;
}

bool Annotate(Graph& graph, Diagnostics* sink) {
  bool good = true;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const Op op = OpOf(node);
    if (IsQLinear(op)) {
      good &= AnnotateQLinear(graph, id, sink);
    } else if (IsQonnx(op)) {
      const auto encoding = QonnxEncoding(graph, id, sink);
      if (encoding) Attach(graph, node.results[0], *encoding);
      good &= encoding.has_value();
    } else if (op == Op::kQuantizeLinear || op == Op::kDequantizeLinear) {
      const auto encoding = EncodingOf(graph, id, sink);
      if (!encoding) {
        good = false;
        continue;
      }
      Attach(graph,
             op == Op::kQuantizeLinear ? node.results[0] : node.operands[0],
             *encoding);
    }
  }
  if (good) graph.stage = Stage::annotated;
  return good;
}

}  // namespace fold
