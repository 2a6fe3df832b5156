#include "compiler/target/target.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <set>

namespace fold {
namespace {

constexpr size_t kMaxNameLength = 64;
constexpr int64_t kMaxAlignmentBytes = 1 << 20;
constexpr int32_t kMaxReductionMultiple = 4096;
constexpr int32_t kMaxOperand = 15;

constexpr std::array<std::string_view, 14> kElementTypes = {
    "f16", "bf16", "f32", "f64", "i4",  "u4",  "i8",
    "u8",  "i16",  "u16", "i32", "u32", "i64", "boolean"};

// Collects problems under a path.
class Problems {
 public:
  void Add(std::string field, std::string message) {
    all_.push_back({std::move(field), std::move(message)});
  }
  std::vector<TargetProblem> Take() { return std::move(all_); }

 private:
  std::vector<TargetProblem> all_;
};

std::string At(std::string_view field, size_t index) {
  return std::string(field) + "[" + std::to_string(index) + "]";
}

std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text.substr(0, kMaxNameLength)) {
    out += std::isprint(static_cast<unsigned char>(c)) ? c : '?';
  }
  return out + "'";
}

bool IsPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

bool IsIdentifier(std::string_view text) {
  auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || text.size() > kMaxNameLength || !plain(text[0])) {
    return false;
  }
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return plain(c) || c == '.' || c == '_' || c == '-';
  });
}

// Lists of names: none empty, none twice.
void CheckNames(std::string_view field, const std::vector<std::string>& names,
                Problems& problems) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) {
      problems.Add(At(field, i), "is empty");
    } else if (!seen.insert(names[i]).second) {
      problems.Add(At(field, i), "repeats " + Quoted(names[i]));
    }
  }
}

void CheckElementTypes(const std::string& field,
                       const std::vector<std::string>& types,
                       Problems& problems) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < types.size(); ++i) {
    auto known = TargetElementTypes();
    if (std::find(known.begin(), known.end(), types[i]) == known.end()) {
      problems.Add(At(field, i), "unknown element type " + Quoted(types[i]) +
                                     "; known: i4 u4 i8 u8 i16 u16 i32 u32 "
                                     "i64 f16 bf16 f32 f64 boolean");
    } else if (!seen.insert(types[i]).second) {
      problems.Add(At(field, i), "repeats " + Quoted(types[i]));
    }
  }
}

// Types that an op row names must be among the target's own.
void CheckOpTypes(const std::string& field,
                  const std::vector<std::string>& types,
                  const std::vector<std::string>& of_target,
                  Problems& problems) {
  CheckElementTypes(field, types, problems);
  auto known = TargetElementTypes();
  for (size_t i = 0; i < types.size(); ++i) {
    bool valid = std::find(known.begin(), known.end(), types[i]) != known.end();
    bool has = std::find(of_target.begin(), of_target.end(), types[i]) !=
               of_target.end();
    if (valid && !has) {
      problems.Add(At(field, i), Quoted(types[i]) + " is not in element_types");
    }
  }
}

void CheckLimit(const std::string& field, std::optional<int64_t> limit,
                Problems& problems) {
  if (limit && *limit <= 0) {
    problems.Add(field, "must be above 0; leave it out for no limit");
  }
}

void CheckOp(const std::string& field, const TargetOp& op,
             const TargetDescriptor& target, Problems& problems) {
  auto kinds = TargetOpKinds();
  if (op.kind.empty()) {
    problems.Add(field + ".kind", "is missing");
  } else if (std::find(kinds.begin(), kinds.end(), op.kind) == kinds.end()) {
    problems.Add(field + ".kind", "unknown op kind " + Quoted(op.kind));
  }
  CheckOpTypes(field + ".input_types", op.input_types, target.element_types,
               problems);
  CheckOpTypes(field + ".weight_types", op.weight_types, target.element_types,
               problems);
  CheckOpTypes(field + ".output_types", op.output_types, target.element_types,
               problems);
  CheckLimit(field + ".max_kernel", op.max_kernel, problems);
  CheckLimit(field + ".max_stride", op.max_stride, problems);
  CheckLimit(field + ".max_dilation", op.max_dilation, problems);
  std::set<int32_t> seen;
  for (size_t i = 0; i < op.constant_operands.size(); ++i) {
    int32_t operand = op.constant_operands[i];
    std::string path = At(field + ".constant_operands", i);
    if (operand < 0 || operand > kMaxOperand) {
      problems.Add(path, "must be from 0 to 15");
    } else if (!seen.insert(operand).second) {
      problems.Add(path, "repeats " + std::to_string(operand));
    }
  }
}

void CheckOpTable(const std::string& field, const std::vector<TargetOp>& ops,
                  const TargetDescriptor& target, Problems& problems) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < ops.size(); ++i) {
    CheckOp(At(field, i), ops[i], target, problems);
    if (!ops[i].kind.empty() && !seen.insert(ops[i].kind).second) {
      problems.Add(At(field, i) + ".kind",
                   "a second row for " + Quoted(ops[i].kind));
    }
  }
}

void CheckIdentity(const TargetDescriptor& target, Problems& problems) {
  if (!IsIdentifier(target.name)) {
    problems.Add("name", target.name.empty()
                             ? "is missing"
                             : "must be [a-z0-9][a-z0-9._-]*, at most 64 "
                               "characters, is " +
                                   Quoted(target.name));
  }
  if (target.architecture.empty()) problems.Add("architecture", "is missing");
  CheckNames("isa_features", target.isa_features, problems);
  CheckNames("compatible", target.compatible, problems);
}

void CheckMemory(const std::string& field, const TargetMemory& memory,
                 Problems& problems) {
  if (memory.name.empty()) problems.Add(field + ".name", "is missing");
  if (memory.size_bytes <= 0) {
    problems.Add(field + ".size_bytes", "must be above 0");
  }
  if (!IsPowerOfTwo(memory.alignment_bytes) ||
      memory.alignment_bytes > kMaxAlignmentBytes) {
    problems.Add(field + ".alignment_bytes",
                 "must be a power of two up to 1048576, is " +
                     std::to_string(memory.alignment_bytes));
  }
  if (memory.uses.empty()) {
    problems.Add(field + ".uses", "names nothing that may live there");
  }
  std::set<MemoryUse> seen;
  for (size_t i = 0; i < memory.uses.size(); ++i) {
    if (memory.uses[i] != MemoryUse::kConstants &&
        memory.uses[i] != MemoryUse::kArena) {
      problems.Add(At(field + ".uses", i), "unknown use");
    } else if (!seen.insert(memory.uses[i]).second) {
      problems.Add(At(field + ".uses", i), "repeats a use");
    }
  }
}

void CheckMemories(const TargetDescriptor& target, Problems& problems) {
  if (target.memories.empty()) {
    problems.Add("memories", "a target needs at least one memory");
    return;
  }
  std::set<std::string_view> names;
  std::set<MemoryUse> uses;
  for (size_t i = 0; i < target.memories.size(); ++i) {
    const TargetMemory& memory = target.memories[i];
    CheckMemory(At("memories", i), memory, problems);
    if (!memory.name.empty() && !names.insert(memory.name).second) {
      problems.Add(At("memories", i) + ".name",
                   "repeats " + Quoted(memory.name));
    }
    uses.insert(memory.uses.begin(), memory.uses.end());
  }
  if (!uses.count(MemoryUse::kConstants)) {
    problems.Add("memories", "no memory may hold CONSTANTS");
  }
  if (!uses.count(MemoryUse::kArena)) {
    problems.Add("memories", "no memory may hold the ARENA");
  }
}

void CheckRequant(const TargetRequant& requant, Problems& problems) {
  if (requant.arithmetic != RequantArithmetic::kExact) {
    problems.Add("requantization.arithmetic", "is missing or unknown");
  }
  if (requant.forms.empty()) {
    problems.Add("requantization.forms", "names no form");
  }
  std::set<RequantForm> seen;
  for (size_t i = 0; i < requant.forms.size(); ++i) {
    std::string path = At("requantization.forms", i);
    if (requant.forms[i] == RequantForm::kUnspecified ||
        requant.forms[i] > RequantForm::kThresholds) {
      problems.Add(path, "unknown form");
    } else if (!seen.insert(requant.forms[i]).second) {
      problems.Add(path, "repeats a form");
    }
  }
  if (requant.accumulator_bits != 32 && requant.accumulator_bits != 64) {
    problems.Add("requantization.accumulator_bits", "must be 32 or 64");
  }
}

// A float kernel in the table of a target that has no float.
void CheckFloat(const TargetDescriptor& target, Problems& problems) {
  if (target.float_islands && !target.float_registers) {
    problems.Add("float_islands", "need float_registers");
  }
  if (target.float_islands) return;
  for (size_t i = 0; i < target.ops.size(); ++i) {
    if (target.ops[i].kind.rfind("f64_", 0) == 0) {
      problems.Add(At("ops", i) + ".kind",
                   Quoted(target.ops[i].kind) + " needs float_islands");
    }
  }
}

void CheckDelegates(const TargetDescriptor& target, Problems& problems) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < target.delegates.size(); ++i) {
    const TargetDelegate& delegate = target.delegates[i];
    std::string field = At("delegates", i);
    if (delegate.name.empty()) {
      problems.Add(field + ".name", "is missing");
    } else if (!names.insert(delegate.name).second) {
      problems.Add(field + ".name", "repeats " + Quoted(delegate.name));
    }
    if (delegate.payload_format.empty()) {
      problems.Add(field + ".payload_format", "is missing");
    }
    if (delegate.ops.empty()) problems.Add(field + ".ops", "is empty");
    CheckOpTable(field + ".ops", delegate.ops, target, problems);
  }
}

void CheckTools(const TargetDescriptor& target, Problems& problems) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < target.external_tools.size(); ++i) {
    const ExternalTool& tool = target.external_tools[i];
    std::string field = At("external_tools", i);
    if (tool.name.empty()) {
      problems.Add(field + ".name", "is missing");
    } else if (!names.insert(tool.name).second) {
      problems.Add(field + ".name", "repeats " + Quoted(tool.name));
    }
    if (tool.version.empty()) problems.Add(field + ".version", "is missing");
  }
}

// Sum of the sizes of memories with a use, saturated.
int64_t SizeFor(const TargetDescriptor& target, MemoryUse use) {
  int64_t total = 0;
  for (const TargetMemory& memory : target.memories) {
    bool has = std::find(memory.uses.begin(), memory.uses.end(), use) !=
               memory.uses.end();
    if (!has || memory.size_bytes <= 0) continue;
    if (memory.size_bytes > std::numeric_limits<int64_t>::max() - total) {
      return std::numeric_limits<int64_t>::max();
    }
    total += memory.size_bytes;
  }
  return total;
}

void CheckBudget(const std::string& field, std::optional<int64_t> budget,
                 int64_t available, std::string_view use, Problems& problems) {
  CheckLimit(field, budget, problems);
  if (budget && *budget > 0 && available > 0 && *budget > available) {
    problems.Add(field, "is " + std::to_string(*budget) +
                            " bytes, but the memories for " + std::string(use) +
                            " have " + std::to_string(available));
  }
}

}  // namespace

std::span<const std::string_view> TargetOpKinds() {
  struct Kinds {
    std::vector<std::string> text;
    std::vector<std::string_view> views;  // of `text`
  };
  static const Kinds* const kKinds = [] {
    static const std::string_view kNames[] = {
#define FOLD_OPCODE(number, name, parameters) #name,
#include "runtime/format/kernel_opcodes.def"
    };
    auto* kinds = new Kinds;
    for (std::string_view name : kNames) {
      std::string& text = kinds->text.emplace_back(name);
      for (char& c : text) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
    }
    kinds->views.assign(kinds->text.begin(), kinds->text.end());
    return kinds;
  }();
  return kKinds->views;
}

std::span<const std::string_view> TargetElementTypes() { return kElementTypes; }

std::vector<TargetProblem> CheckTarget(const TargetDescriptor& target) {
  Problems problems;
  CheckIdentity(target, problems);
  CheckMemories(target, problems);
  if (target.element_types.empty()) {
    problems.Add("element_types", "names no type");
  }
  CheckElementTypes("element_types", target.element_types, problems);
  if (target.ops.empty() && target.delegates.empty()) {
    problems.Add("ops", "the target has no op");
  }
  CheckOpTable("ops", target.ops, target, problems);
  if (target.layout != TargetLayout::kChannelsLast &&
      target.layout != TargetLayout::kChannelsFirst) {
    problems.Add("layout", "is missing or unknown");
  }
  if (target.reduction_multiple < 1 ||
      target.reduction_multiple > kMaxReductionMultiple) {
    problems.Add("reduction_multiple", "must be from 1 to 4096");
  }
  CheckRequant(target.requant, problems);
  CheckFloat(target, problems);
  if (target.default_io != BoundaryIo::kFloat &&
      target.default_io != BoundaryIo::kQuantized) {
    problems.Add("default_io", "is missing or unknown");
  }
  CheckDelegates(target, problems);
  if (target.output_format != OutputFormat::kFold) {
    problems.Add("output_format", "is missing or unknown");
  }
  CheckTools(target, problems);
  CheckBudget("budgets.ram_bytes", target.budgets.ram_bytes,
              SizeFor(target, MemoryUse::kArena), "the ARENA", problems);
  CheckBudget("budgets.flash_bytes", target.budgets.flash_bytes,
              SizeFor(target, MemoryUse::kConstants), "CONSTANTS", problems);
  return problems.Take();
}

const TargetOp* FindTargetOp(const TargetDescriptor& target,
                             std::string_view kind) {
  for (const TargetOp& op : target.ops) {
    if (op.kind == kind) return &op;
  }
  return nullptr;
}

bool HasRequantForm(const TargetDescriptor& target, RequantForm form) {
  const auto& forms = target.requant.forms;
  return std::find(forms.begin(), forms.end(), form) != forms.end();
}

}  // namespace fold
