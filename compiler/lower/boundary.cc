// The signature: inputs and outputs as the caller sees them, and the
// conversions between real numbers and codes, there and around float islands.
#include <algorithm>

#include "compiler/lower/lowering.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/dequantized.h"
#include "compiler/passes/pattern.h"

namespace fold {
namespace {

// Buffers of the caller may hold these.
bool IsSignatureType(ElementType type) {
  switch (type) {
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::i4:
    case ElementType::u4:
    case ElementType::undefined:
      return false;
    default:
      return true;
  }
}

// The one QuantizeLinear that reads `id`, if that is all that reads it.
NodeId OnlyQuantize(const Graph& graph, ValueId id) {
  const auto users = graph.UsersOf(id);
  if (users.size() != 1 || graph.IsOutput(id)) return NodeId();
  const Node& node = graph.node(users[0]);
  return OpOf(node) == Op::kQuantizeLinear && node.operands[0] == id ? users[0]
                                                                     : NodeId();
}

void SetRange(const TensorType& type, int64_t* low, int64_t* high) {
  *low = type.encoding->code_low.value_or(LowestCode(type.element));
  *high = type.encoding->code_high.value_or(HighestCode(type.element));
}

int AddSignatureTensor(Lowering& lowering, const std::string& name,
                       format_::ElementType type, const Shape& shape,
                       format_::Storage storage, size_t number) {
  const int tensor = lowering.AddTensor(name, type, shape);
  lowering.program.artifact.tensors[tensor]->storage = storage;
  lowering.program.artifact.tensors[tensor]->offset = number;
  return tensor;
}

std::unique_ptr<format_::SignatureEntryT> MakeEntry(const Lowering& lowering,
                                                    const std::string& name,
                                                    int tensor,
                                                    const Shape& shape) {
  auto entry = std::make_unique<format_::SignatureEntryT>();
  entry->name = name;
  entry->tensor = tensor;
  entry->type = lowering.program.artifact.tensors[tensor]->type;
  entry->shape = shape;
  return entry;
}

// With --io=quantized: the caller passes the codes that `quantize` would make.
bool TakeCodes(Lowering& lowering, size_t number, NodeId quantize) {
  const ValueId input = lowering.graph.inputs[number];
  const ValueId codes = lowering.graph.node(quantize).results[0];
  const TensorType& type = lowering.type(codes);
  if (!type.encoding) return false;
  const std::string& name = lowering.graph.value(input).name;
  const int tensor =
      AddSignatureTensor(lowering, name, FormatType(type.element), type.shape,
                         format_::Storage::INPUT, number);
  auto entry = MakeEntry(lowering, name, tensor, type.shape);
  entry->quantization = std::make_unique<format_::QuantizationT>(
      FormatQuantization(*type.encoding));
  lowering.program.artifact.inputs.push_back(std::move(entry));
  lowering.done.insert(quantize);
  const Perm identity = IdentityPerm(type.shape.size());
  int64_t low, high;
  SetRange(type, &low, &high);
  if (low == LowestCode(type.element) && high == HighestCode(type.element)) {
    lowering.Hold(codes, tensor, identity);
    return true;
  }
  format_::ClampParametersT p;
  p.lo = low;
  p.hi = high;
  const int clamped = lowering.AddValue(codes, identity);
  format_::OpT& op =
      lowering.AddOp(quantize, format_::Opcode::CLAMP, {tensor}, {clamped});
  op.parameters.Set(p);
  return true;
}

bool LowerInput(Lowering& lowering, size_t number) {
  const ValueId id = lowering.graph.inputs[number];
  const Value& value = lowering.graph.value(id);
  if (!IsSignatureType(value.type.element)) {
    return lowering.sink.Add(
        DiagnosticCode::unsupported_type, value.name,
        "an input of type " + std::string(ElementTypeName(value.type.element)) +
            " is not supported");
  }
  const NodeId quantize = OnlyQuantize(lowering.graph, id);
  if (quantize.valid() && lowering.options.quantized_io &&
      TakeCodes(lowering, number, quantize)) {
    return true;
  }
  const int tensor =
      AddSignatureTensor(lowering, value.name, FormatType(value.type.element),
                         value.type.shape, format_::Storage::INPUT, number);
  auto entry = MakeEntry(lowering, value.name, tensor, value.type.shape);
  if (value.type.encoding) {
    entry->quantization = std::make_unique<format_::QuantizationT>(
        FormatQuantization(*value.type.encoding));
  } else if (quantize.valid()) {
    const ValueId codes = lowering.graph.node(quantize).results[0];
    entry->quantization = std::make_unique<format_::QuantizationT>(
        FormatQuantization(*lowering.type(codes).encoding));
    entry->converted = true;
  }
  lowering.program.artifact.inputs.push_back(std::move(entry));
  if (IsFloat(value.type.element)) {
    lowering.HoldInput(id, tensor);
  } else {
    lowering.Hold(id, tensor, IdentityPerm(value.type.shape.size()));
  }
  return true;
}

bool LowerQuantize(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  const TensorType& type = lowering.type(node.results[0]);
  if (type.encoding->block > 0) {
    return lowering.Error(DiagnosticCode::unsupported_attribute, id,
                          "blocked quantization of an activation");
  }
  if (type.encoding->rounding == Rounding::kHalfEvenCode) {
    return lowering.Error(DiagnosticCode::unsupported_attribute, id,
                          "even and odd zero points in one tensor round "
                          "differently");
  }
  const Perm perm = lowering.PreferredLayout(node.results[0]);
  int from = lowering.InputOf(node.operands[0]);
  const bool boundary = from >= 0;
  if (!boundary) {
    from = lowering.Want(node.operands[0], IdentityPerm(type.shape.size()));
  }
  if (from < 0) {
    return lowering.Error(DiagnosticCode::unsupported_operator, id,
                          "quantizes a value that is not real");
  }
  format_::QuantizeParametersT p;
  p.scales = type.encoding->scales;
  p.zero_points = type.encoding->zero_points;
  p.axis = type.encoding->axis;
  p.permutation = perm;
  SetRange(type, &p.lo, &p.hi);
  p.rounding = static_cast<format_::Rounding>(type.encoding->rounding);
  const int to = lowering.AddValue(node.results[0], perm);
  format_::OpT& op =
      lowering.AddOp(id, format_::Opcode::QUANTIZE, {from}, {to});
  op.parameters.Set(std::move(p));
  op.boundary = boundary;
  if (!boundary) op.exactness = format_::Exactness::FLOAT;
  return true;
}

// Constant codes as doubles.
void HoldConstantReal(Lowering& lowering, const Node& node, const Encoding& e) {
  const Value& codes = lowering.graph.value(node.operands[0]);
  const int tensor = lowering.AddConstantOf(
      lowering.graph.value(node.results[0]).name, format_::ElementType::F64,
      codes.type.shape, RealNumbersOf(*codes.constant, e));
  lowering.Hold(node.results[0], tensor, IdentityPerm(codes.type.shape.size()));
}

bool LowerDequantize(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  if (lowering.graph.UsersOf(node.results[0]).empty() &&
      !lowering.graph.IsConstant(node.operands[0])) {
    return true;
  }
  const TensorType& codes = lowering.type(node.operands[0]);
  const Encoding encoding =
      *IntegerRewrite::EncodingOfReal(lowering.graph, node.results[0]);
  if (encoding.block > 0) {
    return lowering.Error(DiagnosticCode::unsupported_attribute, id,
                          "blocked quantization");
  }
  if (lowering.graph.IsConstant(node.operands[0])) {
    HoldConstantReal(lowering, node, encoding);
    return true;
  }
  const Perm perm = lowering.LayoutOf(node.operands[0]);
  const int from = lowering.Want(node.operands[0], perm);
  const int to =
      lowering.AddValue(node.results[0], IdentityPerm(codes.shape.size()));
  lowering.AddDequantize(id, {from, perm}, FormatQuantization(encoding), to)
      .exactness = format_::Exactness::FLOAT;
  return true;
}

// Writes one output of the signature.
class OutputWriter {
 public:
  OutputWriter(Lowering& lowering, size_t number)
      : lowering_(lowering),
        number_(number),
        id_(lowering.graph.outputs[number]),
        name_(lowering.graph.output_names[number]),
        type_(lowering.type(id_)),
        producer_(lowering.graph.value(id_).producer) {}

  bool Run() {
    if (!IsSignatureType(type_.element)) {
      return lowering_.sink.Add(
          DiagnosticCode::unsupported_type, name_,
          "an output of type " + std::string(ElementTypeName(type_.element)) +
              " is not supported");
    }
    if (!IsFloat(type_.element)) return Move(id_, type_);
    if (lowering_.graph.IsConstant(id_)) return ConstantFloat();
    const Node* producer = ProducerOf(lowering_.graph, id_);
    if (producer && OpOf(*producer) == Op::kDequantizeLinear &&
        !lowering_.IsHeld(id_) &&
        !lowering_.graph.IsConstant(producer->operands[0])) {
      return FromCodes(producer->operands[0]);
    }
    if (lowering_.AccumulatorsOf(id_)) return FromAccumulators();
    return FromReal();
  }

 private:
  int AddOutput(format_::ElementType type) {
    const int to = AddSignatureTensor(lowering_, name_, type, type_.shape,
                                      format_::Storage::OUTPUT, number_);
    lowering_.program.artifact.outputs.push_back(
        MakeEntry(lowering_, name_, to, type_.shape));
    return to;
  }
  format_::SignatureEntryT& entry() {
    return *lowering_.program.artifact.outputs.back();
  }

  void Copy(const Held& from, int to) {
    const Perm identity = IdentityPerm(type_.shape.size());
    const bool same = SamePlaces(from.perm, identity, type_.shape);
    format_::OpT& op = lowering_.AddOp(
        producer_, same ? format_::Opcode::COPY : format_::Opcode::TRANSPOSE,
        {from.tensor}, {to});
    if (same) {
      op.parameters.Set(format_::NoParametersT());
    } else {
      format_::TransposeParametersT p;
      p.permutation = Between(from.perm, identity);
      op.parameters.Set(std::move(p));
    }
    op.name = name_;
    op.boundary = true;
  }

  // The codes of `id` as they are.
  bool Move(ValueId id, const TensorType& type) {
    const Perm perm = lowering_.LayoutOf(id);
    const int from = lowering_.Want(id, perm);
    if (from < 0) {
      return lowering_.Error(DiagnosticCode::unsupported_operator, producer_,
                             "output '" + name_ + "' cannot be computed");
    }
    const int to = AddOutput(FormatType(type.element));
    if (type.encoding) {
      entry().quantization = std::make_unique<format_::QuantizationT>(
          FormatQuantization(*type.encoding));
    }
    Copy({from, perm}, to);
    return true;
  }

  bool ConstantFloat() {
    const Tensor& constant = *lowering_.graph.value(id_).constant;
    const int from = lowering_.AddConstant(name_, FormatType(constant.type),
                                           constant.shape, constant.bytes);
    const int to = AddOutput(FormatType(constant.type));
    Copy({from, IdentityPerm(constant.shape.size())}, to);
    return true;
  }

  bool FromCodes(ValueId codes) {
    TensorType type = lowering_.type(codes);
    type.encoding = IntegerRewrite::EncodingOfReal(lowering_.graph, id_);
    if (lowering_.options.quantized_io) return Move(codes, type);
    const Perm perm = lowering_.LayoutOf(codes);
    const int from = lowering_.Want(codes, perm);
    return Convert({from, perm}, FormatQuantization(*type.encoding));
  }

  bool FromAccumulators() {
    const Held raw = *lowering_.AccumulatorsOf(id_);
    format_::QuantizationT q =
        *lowering_.program.artifact.tensors[raw.tensor]->quantization;
    if (q.axis >= 0) q.axis = raw.perm[q.axis];
    if (!lowering_.options.quantized_io) return Convert(raw, q);
    const int to = AddOutput(format_::ElementType::S32);
    entry().quantization = std::make_unique<format_::QuantizationT>(q);
    Copy(raw, to);
    return true;
  }

  bool Convert(const Held& from, const format_::QuantizationT& quantization) {
    const int to = AddOutput(FormatType(type_.element));
    entry().quantization =
        std::make_unique<format_::QuantizationT>(quantization);
    entry().converted = true;
    format_::OpT& op =
        lowering_.AddDequantize(producer_, from, quantization, to);
    op.name = name_;
    op.boundary = true;
    return true;
  }

  bool FromReal() {
    const Perm identity = IdentityPerm(type_.shape.size());
    const int from = lowering_.Want(id_, identity);
    if (from < 0) {
      return lowering_.Error(DiagnosticCode::unsupported_operator, producer_,
                             "output '" + name_ + "' cannot be computed");
    }
    const int to = AddOutput(FormatType(type_.element));
    if (type_.element == ElementType::f64) {
      Copy({from, identity}, to);
      return true;
    }
    format_::OpT& op =
        lowering_.AddOp(producer_, format_::Opcode::F64_CAST, {from}, {to});
    op.parameters.Set(format_::NoParametersT());
    op.name = name_;
    op.boundary = true;
    return true;
  }

  Lowering& lowering_;
  size_t number_;
  ValueId id_;
  std::string name_;
  const TensorType& type_;
  NodeId producer_;
};

}  // namespace

bool LowerInputs(Lowering& lowering) {
  for (size_t i = 0; i < lowering.graph.inputs.size(); ++i) {
    if (!LowerInput(lowering, i)) return false;
  }
  return true;
}

bool LowerConversion(Lowering& lowering, NodeId id) {
  if (lowering.done.count(id)) return true;
  return OpOf(lowering.graph.node(id)) == Op::kQuantizeLinear
             ? LowerQuantize(lowering, id)
             : LowerDequantize(lowering, id);
}

bool LowerOutputs(Lowering& lowering) {
  for (size_t i = 0; i < lowering.graph.outputs.size(); ++i) {
    if (!OutputWriter(lowering, i).Run()) return false;
  }
  return true;
}

}  // namespace fold
