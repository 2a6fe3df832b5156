#include "compiler/api/convert.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

// The enums on both sides have the same numbers; a number that does not fit
// the smaller type becomes its highest value, which is no enumerator.
template <typename To>
To EnumFromProto(int value) {
  return value >= 0 && value < 255 ? static_cast<To>(value)
                                   : static_cast<To>(255);
}

template <typename To, typename From>
To EnumToProto(From value) {
  return static_cast<To>(static_cast<int>(value));
}

static_assert(static_cast<int>(MemoryUse::kConstants) == v1::CONSTANTS);
static_assert(static_cast<int>(MemoryUse::kArena) == v1::ARENA);
static_assert(static_cast<int>(TargetLayout::kChannelsLast) ==
              v1::CHANNELS_LAST);
static_assert(static_cast<int>(TargetLayout::kChannelsFirst) ==
              v1::CHANNELS_FIRST);
static_assert(static_cast<int>(RequantArithmetic::kExact) == v1::EXACT);
static_assert(static_cast<int>(RequantForm::kMul64) == v1::MUL64);
static_assert(static_cast<int>(RequantForm::kHalfEven64) == v1::HALF_EVEN64);
static_assert(static_cast<int>(RequantForm::kRemainder) == v1::REMAINDER);
static_assert(static_cast<int>(RequantForm::kMul128) == v1::MUL128);
static_assert(static_cast<int>(RequantForm::kThresholds) == v1::THRESHOLDS);
static_assert(static_cast<int>(OutputFormat::kFold) == v1::FOLD);
static_assert(static_cast<int>(BoundaryIo::kFloat) == v1::IO_FLOAT);
static_assert(static_cast<int>(BoundaryIo::kQuantized) == v1::IO_QUANTIZED);

template <typename List, typename Out>
void Append(const List& from, Out* to) {
  to->insert(to->end(), from.begin(), from.end());
}

template <typename List, typename Field>
void Assign(const List& from, Field* to) {
  to->Assign(from.begin(), from.end());
}

TargetOp OpFromProto(const v1::TargetOp& message) {
  TargetOp op;
  op.kind = message.kind();
  Append(message.input_types(), &op.input_types);
  Append(message.weight_types(), &op.weight_types);
  Append(message.output_types(), &op.output_types);
  if (message.has_max_kernel()) op.max_kernel = message.max_kernel();
  if (message.has_max_stride()) op.max_stride = message.max_stride();
  if (message.has_max_dilation()) op.max_dilation = message.max_dilation();
  op.per_axis = message.per_axis();
  Append(message.constant_operands(), &op.constant_operands);
  return op;
}

void OpToProto(const TargetOp& op, v1::TargetOp* message) {
  message->set_kind(op.kind);
  Assign(op.input_types, message->mutable_input_types());
  Assign(op.weight_types, message->mutable_weight_types());
  Assign(op.output_types, message->mutable_output_types());
  if (op.max_kernel) message->set_max_kernel(*op.max_kernel);
  if (op.max_stride) message->set_max_stride(*op.max_stride);
  if (op.max_dilation) message->set_max_dilation(*op.max_dilation);
  message->set_per_axis(op.per_axis);
  Assign(op.constant_operands, message->mutable_constant_operands());
}

TargetMemory MemoryFromProto(const v1::Memory& message) {
  TargetMemory memory;
  memory.name = message.name();
  memory.size_bytes = message.size_bytes();
  memory.alignment_bytes = message.alignment_bytes();
  for (int use : message.uses()) {
    memory.uses.push_back(EnumFromProto<MemoryUse>(use));
  }
  return memory;
}

void MemoryToProto(const TargetMemory& memory, v1::Memory* message) {
  message->set_name(memory.name);
  message->set_size_bytes(memory.size_bytes);
  message->set_alignment_bytes(memory.alignment_bytes);
  for (MemoryUse use : memory.uses) {
    message->add_uses(EnumToProto<v1::MemoryUse>(use));
  }
}

TargetRequant RequantFromProto(const v1::Requantization& message) {
  TargetRequant requant;
  requant.arithmetic = EnumFromProto<RequantArithmetic>(message.arithmetic());
  for (int form : message.forms()) {
    requant.forms.push_back(EnumFromProto<RequantForm>(form));
  }
  requant.accumulator_bits = message.accumulator_bits();
  return requant;
}

void RequantToProto(const TargetRequant& requant, v1::Requantization* message) {
  message->set_arithmetic(
      EnumToProto<v1::RequantArithmetic>(requant.arithmetic));
  for (RequantForm form : requant.forms) {
    message->add_forms(EnumToProto<v1::RequantForm>(form));
  }
  message->set_accumulator_bits(requant.accumulator_bits);
}

TargetDelegate DelegateFromProto(const v1::Delegate& message) {
  TargetDelegate delegate{message.name(), message.payload_format(), {}};
  for (const auto& op : message.ops()) delegate.ops.push_back(OpFromProto(op));
  return delegate;
}

void DelegateToProto(const TargetDelegate& delegate, v1::Delegate* message) {
  message->set_name(delegate.name);
  message->set_payload_format(delegate.payload_format);
  for (const TargetOp& op : delegate.ops) OpToProto(op, message->add_ops());
}

}  // namespace

TargetDescriptor FromProto(const v1::TargetDescriptor& message) {
  TargetDescriptor target;
  target.name = message.name();
  target.architecture = message.architecture();
  Append(message.isa_features(), &target.isa_features);
  Append(message.compatible(), &target.compatible);
  for (const auto& memory : message.memories()) {
    target.memories.push_back(MemoryFromProto(memory));
  }
  Append(message.element_types(), &target.element_types);
  for (const auto& op : message.ops()) target.ops.push_back(OpFromProto(op));
  target.layout = EnumFromProto<TargetLayout>(message.layout());
  target.reduction_multiple = message.reduction_multiple();
  target.requant = RequantFromProto(message.requantization());
  target.float_registers = message.float_registers();
  target.float_islands = message.float_islands();
  target.default_io = EnumFromProto<BoundaryIo>(message.default_io());
  for (const auto& delegate : message.delegates()) {
    target.delegates.push_back(DelegateFromProto(delegate));
  }
  target.output_format = EnumFromProto<OutputFormat>(message.output_format());
  for (const auto& tool : message.external_tools()) {
    target.external_tools.push_back({tool.name(), tool.version()});
  }
  const v1::Budgets& budgets = message.budgets();
  if (budgets.has_ram_bytes()) target.budgets.ram_bytes = budgets.ram_bytes();
  if (budgets.has_flash_bytes()) {
    target.budgets.flash_bytes = budgets.flash_bytes();
  }
  return target;
}

v1::TargetDescriptor ToProto(const TargetDescriptor& target) {
  v1::TargetDescriptor message;
  message.set_name(target.name);
  message.set_architecture(target.architecture);
  Assign(target.isa_features, message.mutable_isa_features());
  Assign(target.compatible, message.mutable_compatible());
  for (const TargetMemory& memory : target.memories) {
    MemoryToProto(memory, message.add_memories());
  }
  Assign(target.element_types, message.mutable_element_types());
  for (const TargetOp& op : target.ops) OpToProto(op, message.add_ops());
  message.set_layout(EnumToProto<v1::Layout>(target.layout));
  message.set_reduction_multiple(target.reduction_multiple);
  RequantToProto(target.requant, message.mutable_requantization());
  message.set_float_registers(target.float_registers);
  message.set_float_islands(target.float_islands);
  message.set_default_io(EnumToProto<v1::BoundaryIo>(target.default_io));
  for (const TargetDelegate& delegate : target.delegates) {
    DelegateToProto(delegate, message.add_delegates());
  }
  message.set_output_format(
      EnumToProto<v1::OutputFormat>(target.output_format));
  for (const ExternalTool& tool : target.external_tools) {
    v1::ExternalTool* out = message.add_external_tools();
    out->set_name(tool.name);
    out->set_version(tool.version);
  }
  v1::Budgets* budgets = message.mutable_budgets();
  if (target.budgets.ram_bytes) {
    budgets->set_ram_bytes(*target.budgets.ram_bytes);
  }
  if (target.budgets.flash_bytes) {
    budgets->set_flash_bytes(*target.budgets.flash_bytes);
  }
  return message;
}

v1::Diagnostic ToProto(const Diagnostic& diagnostic) {
  v1::Diagnostic message;
  switch (diagnostic.severity()) {
    case Severity::kNote:
      message.set_severity(v1::NOTE);
      break;
    case Severity::kWarning:
      message.set_severity(v1::WARNING);
      break;
    case Severity::kError:
      message.set_severity(v1::ERROR);
      break;
  }
  message.set_code(KindOf(diagnostic.code).name);
  message.set_message(diagnostic.message);
  message.set_node(diagnostic.node);
  return message;
}

std::vector<TargetProblem> CheckTargetMessage(
    const v1::TargetDescriptor& message) {
  return CheckTarget(FromProto(message));
}

std::string FormatDiagnosticMessage(const v1::Diagnostic& diagnostic) {
  const char* severity = diagnostic.severity() == v1::ERROR     ? "error"
                         : diagnostic.severity() == v1::WARNING ? "warning"
                                                                : "note";
  std::string line = std::string(severity) + "[" + diagnostic.code() + "]: ";
  if (!diagnostic.node().empty()) line += "node '" + diagnostic.node() + "': ";
  return line + diagnostic.message();
}

}  // namespace fold
