#include "compiler/lower/lowering.h"

#include <algorithm>
#include <cctype>

#include "compiler/ir/rewriter.h"
#include "compiler/ops/ops.h"

namespace fold {
namespace {

constexpr uint64_t kConstantAlignment = 64;

bool WantsChannelsLast(const Graph& graph, const Node& node) {
  const TensorType& first = graph.value(node.operands[0]).type;
  if (!first.encoding) return false;
  switch (OpOf(node)) {
    case Op::kConv:
    case Op::kMaxPool:
    case Op::kAveragePool:
    case Op::kGlobalAveragePool:
      return true;
    default:
      return false;
  }
}

}  // namespace

format_::QuantizationT FormatQuantization(const Encoding& encoding) {
  format_::QuantizationT q;
  q.scales = encoding.scales;
  q.zero_points = encoding.zero_points;
  q.axis = encoding.axis;
  return q;
}

format_::ElementType FormatType(ElementType type) {
  using F = format_::ElementType;
  switch (type) {
    case ElementType::i4:
    case ElementType::i8:
      return F::S8;
    case ElementType::u4:
    case ElementType::u8:
      return F::U8;
    case ElementType::i16:
      return F::S16;
    case ElementType::u16:
      return F::U16;
    case ElementType::i32:
      return F::S32;
    case ElementType::u32:
      return F::U32;
    case ElementType::i64:
      return F::S64;
    case ElementType::u64:
      return F::U64;
    case ElementType::boolean:
      return F::BOOL;
    case ElementType::f16:
      return F::F16;
    case ElementType::bf16:
      return F::BF16;
    case ElementType::f64:
      return F::F64;
    default:
      return F::F32;
  }
}

int64_t FormatSize(format_::ElementType type) {
  using F = format_::ElementType;
  switch (type) {
    case F::U8:
    case F::S8:
    case F::BOOL:
      return 1;
    case F::U16:
    case F::S16:
    case F::F16:
    case F::BF16:
      return 2;
    case F::U32:
    case F::S32:
    case F::F32:
      return 4;
    default:
      return 8;
  }
}

std::string KernelName(format_::Opcode opcode) {
  std::string name = format_::EnumNameOpcode(opcode);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return name;
}

int Lowering::AddTensor(const std::string& name, format_::ElementType type,
                        const Shape& shape) {
  auto tensor = std::make_unique<format_::TensorT>();
  tensor->name = name;
  tensor->type = type;
  tensor->shape = shape;
  tensor->storage = format_::Storage::ARENA;
  tensor->bytes = static_cast<uint64_t>(ElementCount(shape) * FormatSize(type));
  program.artifact.tensors.push_back(std::move(tensor));
  program.alias_of.push_back(-1);
  return static_cast<int>(program.artifact.tensors.size()) - 1;
}

int Lowering::AddValue(ValueId id, const Perm& perm) {
  const Value& value = graph.value(id);
  const bool integer = IsInteger(value.type.element) ||
                       value.type.element == ElementType::boolean;
  const format_::ElementType type =
      integer ? FormatType(value.type.element) : format_::ElementType::F64;
  const int tensor =
      AddTensor(value.name, type, Permuted(value.type.shape, perm));
  if (value.type.encoding) {
    auto q = std::make_unique<format_::QuantizationT>(
        FormatQuantization(*value.type.encoding));
    if (q->axis >= 0) q->axis = PlaceOf(perm, q->axis);
    program.artifact.tensors[tensor]->quantization = std::move(q);
  }
  Hold(id, tensor, perm);
  return tensor;
}

void Lowering::Hold(ValueId id, int tensor, Perm perm) {
  held_[id.index].push_back({tensor, std::move(perm)});
}

int Lowering::AddConstant(const std::string& name, format_::ElementType type,
                          const Shape& shape, std::span<const uint8_t> bytes) {
  std::vector<uint8_t>& blob = program.artifact.constants;
  const std::vector<uint8_t> key(bytes.begin(), bytes.end());
  auto [at, fresh] = constants_.try_emplace(key, 0);
  if (fresh) {
    blob.resize((blob.size() + kConstantAlignment - 1) / kConstantAlignment *
                kConstantAlignment);
    at->second = blob.size();
    blob.insert(blob.end(), bytes.begin(), bytes.end());
  }
  const int tensor = AddTensor(name, type, shape);
  program.artifact.tensors[tensor]->storage = format_::Storage::CONSTANT;
  program.artifact.tensors[tensor]->offset = at->second;
  program.artifact.tensors[tensor]->bytes = bytes.size();
  return tensor;
}

int Lowering::Alias(int tensor, const std::string& name, const Shape& shape) {
  const format_::TensorT& from = *program.artifact.tensors[tensor];
  const int alias = AddTensor(name, from.type, shape);
  format_::TensorT& to = *program.artifact.tensors[alias];
  to.storage = program.artifact.tensors[tensor]->storage;
  to.offset = program.artifact.tensors[tensor]->offset;
  program.alias_of[alias] = tensor;
  return alias;
}

Perm Lowering::LayoutOf(ValueId id) const {
  const auto at = held_.find(id.index);
  if (at != held_.end()) return at->second.front().perm;
  return IdentityPerm(type(id).shape.size());
}

int Lowering::Want(ValueId id, const Perm& perm) {
  const Shape& logical = type(id).shape;
  const std::string name = graph.value(id).name;
  auto at = held_.find(id.index);
  if (at == held_.end() && graph.IsConstant(id)) {
    const Tensor& constant = *graph.value(id).constant;
    int tensor = -1;
    if (IsFloat(constant.type)) {
      std::vector<double> values(constant.size());
      for (int64_t i = 0; i < constant.size(); ++i) {
        values[i] = constant.real(i);
      }
      tensor = AddConstantOf(name, format_::ElementType::F64, logical, values);
    } else {
      tensor =
          AddConstant(name, FormatType(constant.type), logical, constant.bytes);
    }
    Hold(id, tensor, IdentityPerm(logical.size()));
    at = held_.find(id.index);
  }
  if (at == held_.end()) {
    if (MakeReal(id) < 0) return -1;
    at = held_.find(id.index);
  }
  for (const Held& held : at->second) {
    if (!SamePlaces(held.perm, perm, logical)) continue;
    if (held.perm == perm) return held.tensor;
    const int alias = Alias(held.tensor, name, Permuted(logical, perm));
    Hold(id, alias, perm);
    return alias;
  }
  const Held from = at->second.front();
  const int moved = AddTensor(name, program.artifact.tensors[from.tensor]->type,
                              Permuted(logical, perm));
  if (program.artifact.tensors[from.tensor]->quantization) {
    auto q = std::make_unique<format_::QuantizationT>(
        *program.artifact.tensors[from.tensor]->quantization);
    if (q->axis >= 0) q->axis = PlaceOf(perm, from.perm[q->axis]);
    program.artifact.tensors[moved]->quantization = std::move(q);
  }
  const NodeId producer = graph.value(id).producer;
  format_::OpT& op =
      AddOp(producer, format_::Opcode::TRANSPOSE, {from.tensor}, {moved});
  format_::TransposeParametersT parameters;
  parameters.permutation = Between(from.perm, perm);
  op.parameters.Set(std::move(parameters));
  op.name = name + "/layout";
  op.boundary = !producer.valid();
  Hold(id, moved, perm);
  return moved;
}

int Lowering::MakeReal(ValueId id) {
  const Shape& logical = type(id).shape;
  const std::string name = graph.value(id).name;
  const Perm identity = IdentityPerm(logical.size());
  const NodeId producer = graph.value(id).producer;
  int made = -1;
  if (const Held* raw = AccumulatorsOf(id)) {
    made = AddTensor(name + "/real", format_::ElementType::F64, logical);
    format_::QuantizationT q =
        *program.artifact.tensors[raw->tensor]->quantization;
    if (q.axis >= 0) q.axis = raw->perm[q.axis];
    AddDequantize(producer, *raw, q, made).exactness =
        format_::Exactness::FLOAT;
  } else if (InputOf(id) >= 0) {
    const int input = InputOf(id);
    if (program.artifact.tensors[input]->type == format_::ElementType::F64) {
      made = input;
    } else {
      made = AddTensor(name + "/real", format_::ElementType::F64, logical);
      format_::OpT& op =
          AddOp(NodeId(), format_::Opcode::F64_CAST, {input}, {made});
      op.parameters.Set(format_::NoParametersT());
      op.name = name;
      op.boundary = true;
    }
  }
  if (made >= 0) Hold(id, made, identity);
  return made;
}

format_::OpT& Lowering::AddDequantize(NodeId node, const Held& from,
                                      const format_::QuantizationT& logical,
                                      int to) {
  format_::DequantizeParametersT p;
  p.scales = logical.scales;
  p.zero_points = logical.zero_points;
  p.offsets = logical.offsets;
  p.axis = logical.axis;
  p.permutation = from.perm;
  format_::OpT& op =
      AddOp(node, format_::Opcode::DEQUANTIZE, {from.tensor}, {to});
  op.parameters.Set(std::move(p));
  return op;
}

Perm Lowering::PreferredLayout(ValueId id) const {
  const size_t rank = type(id).shape.size();
  std::vector<ValueId> waiting = {id};
  // Through ops that keep the layout of their operand.
  for (size_t i = 0; i < waiting.size() && i < 16; ++i) {
    for (NodeId user : graph.UsersOf(waiting[i])) {
      const Node& node = graph.node(user);
      if (WantsChannelsLast(graph, node)) return ChannelsLast(rank);
      const Op op = OpOf(node);
      if (op == Op::kAdd || op == Op::kMul || op == Op::kRequantize ||
          op == Op::kConcat || op == Op::kSub) {
        waiting.push_back(node.results[0]);
      }
    }
  }
  return IdentityPerm(rank);
}

format_::OpT& Lowering::AddOp(NodeId id, format_::Opcode opcode,
                              std::vector<int> inputs,
                              std::vector<int> outputs) {
  auto op = std::make_unique<format_::OpT>();
  op->opcode = opcode;
  op->inputs = std::move(inputs);
  op->outputs = std::move(outputs);
  if (id.valid()) {
    op->name = UserName(graph, id);
    op->sources = graph.node(id).provenance.nodes;
  }
  const std::string kind = KernelName(opcode);
  if (!FindTargetOp(target, kind)) {
    Error(DiagnosticCode::not_on_target, id,
          "needs the kernel '" + kind + "', which target '" + target.name +
              "' does not have");
  }
  program.artifact.ops.push_back(std::move(op));
  return *program.artifact.ops.back();
}

bool Lowering::Error(DiagnosticCode code, NodeId node,
                     const std::string& message) {
  return sink.Add(code, node.valid() ? UserName(graph, node) : "", message);
}

bool Lowering::Island(NodeId node) {
  if (!target.float_islands) {
    return Error(DiagnosticCode::not_on_target, node,
                 "would be a float island, and target '" + target.name +
                     "' allows none");
  }
  sink.Add(DiagnosticCode::float_island, UserName(graph, node),
           std::string(Ops().Mnemonic(graph.node(node).op)) +
               " is evaluated in double");
  return true;
}

}  // namespace fold
