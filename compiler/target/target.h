// What a target is: the plain data that the compiler reads. It mirrors the
// message foldd.v1.TargetDescriptor field for field (proto/foldd/v1/
// target.proto; compiler/api/convert.h translates), and CheckTarget finds all
// that is wrong with one.
#ifndef FOLD_COMPILER_TARGET_TARGET_H_
#define FOLD_COMPILER_TARGET_TARGET_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fold {

// What may be placed in a memory.
enum class MemoryUse : uint8_t { kUnspecified, kConstants, kArena };

struct TargetMemory {
  std::string name;
  int64_t size_bytes = 0;
  int64_t alignment_bytes = 0;  // a power of two
  std::vector<MemoryUse> uses;
  friend bool operator==(const TargetMemory&, const TargetMemory&) = default;
};

// One row of an op table: a kernel that the target has, and what it takes. An
// empty list or an absent limit allows everything.
struct TargetOp {
  std::string kind;  // a row of kernel_opcodes.def, lower case
  std::vector<std::string> input_types;   // of activations: "i8", "u8", …
  std::vector<std::string> weight_types;  // of constant operands
  std::vector<std::string> output_types;
  // Largest kernel size, stride and dilation in each spatial dimension.
  std::optional<int64_t> max_kernel;
  std::optional<int64_t> max_stride;
  std::optional<int64_t> max_dilation;
  // Whether weights may have a scale per output channel.
  bool per_axis = false;
  // Operands (from 0) that must be constant; others may be either.
  std::vector<int32_t> constant_operands;
  friend bool operator==(const TargetOp&, const TargetOp&) = default;
};

// Order of the dimensions of activations in memory.
enum class TargetLayout : uint8_t {
  kUnspecified,
  kChannelsLast,   // N, spatial, C
  kChannelsFirst,  // N, C, spatial
};

// Which meaning a requantization has on the target.
enum class RequantArithmetic : uint8_t {
  kUnspecified,
  kExact,  // the contract: the real quotient, rounded half to even, once
};

// Forms in which the target can compute a requantization (design.md
// section 2). `acc` is the accumulator, M, C and S are constants.
enum class RequantForm : uint8_t {
  kUnspecified,
  kMul64,       // (acc * M + C) >> S in 64 bits
  kHalfEven64,  // the same with a half-even step, M exact
  kRemainder,   // an estimate corrected by the exact remainder
  kMul128,      // (acc * M + C) >> S in two limbs of 64 bits
  kThresholds,  // a sorted list of accumulator values, searched
};

struct TargetRequant {
  RequantArithmetic arithmetic = RequantArithmetic::kUnspecified;
  std::vector<RequantForm> forms;
  int32_t accumulator_bits = 0;
  friend bool operator==(const TargetRequant&, const TargetRequant&) = default;
};

// A part of the target that takes whole regions of the graph.
struct TargetDelegate {
  std::string name;
  std::string payload_format;  // e.g. "onnx", "tflite"
  std::vector<TargetOp> ops;
  friend bool operator==(const TargetDelegate&,
                         const TargetDelegate&) = default;
};

enum class OutputFormat : uint8_t {
  kUnspecified,
  kFold,  // the `.fold` artifact that libfoldrt runs
};

struct ExternalTool {
  std::string name;
  std::string version;  // the exact one
  friend bool operator==(const ExternalTool&, const ExternalTool&) = default;
};

struct TargetBudgets {
  std::optional<int64_t> ram_bytes;    // arena; absent: no limit
  std::optional<int64_t> flash_bytes;  // artifact; absent: no limit
  friend bool operator==(const TargetBudgets&, const TargetBudgets&) = default;
};

// Form of the model's inputs and outputs at the boundary.
enum class BoundaryIo : uint8_t {
  kUnspecified,
  kFloat,      // floats, converted once by the runtime
  kQuantized,  // integers; scales and zero points stand in the signature
};

struct TargetDescriptor {
  std::string name;          // [a-z0-9][a-z0-9._-]*
  std::string architecture;  // e.g. "x86-64"
  std::vector<std::string> isa_features;
  // What a device says it is, most specific first, e.g. "foldd,x86-64".
  std::vector<std::string> compatible;
  std::vector<TargetMemory> memories;
  std::vector<std::string> element_types;  // "i8", "u8", "i32", …
  std::vector<TargetOp> ops;
  TargetLayout layout = TargetLayout::kUnspecified;
  // Weights' reduction dimension is padded to a multiple of this; 1: not.
  int32_t reduction_multiple = 0;
  TargetRequant requant;
  // Whether kernels may use float registers, and whether a node may stay a
  // float island.
  bool float_registers = false;
  bool float_islands = false;
  BoundaryIo default_io = BoundaryIo::kUnspecified;
  std::vector<TargetDelegate> delegates;
  OutputFormat output_format = OutputFormat::kUnspecified;
  std::vector<ExternalTool> external_tools;
  TargetBudgets budgets;
  friend bool operator==(const TargetDescriptor&,
                         const TargetDescriptor&) = default;
};

// One fault of a descriptor.
struct TargetProblem {
  std::string field;  // path, e.g. "memories[0].alignment_bytes"
  std::string message;
  friend bool operator==(const TargetProblem&, const TargetProblem&) = default;
};

// The names that an op row's `kind` may have, in order of
// runtime/format/kernel_opcodes.def, in lower case.
std::span<const std::string_view> TargetOpKinds();
// The names that a descriptor's element types may have.
std::span<const std::string_view> TargetElementTypes();

// All faults of a descriptor, field by field in declaration order; empty if it
// can be compiled for.
std::vector<TargetProblem> CheckTarget(const TargetDescriptor& target);

// The row for `kind`, nullptr if the target has no such op.
const TargetOp* FindTargetOp(const TargetDescriptor& target,
                             std::string_view kind);
bool HasRequantForm(const TargetDescriptor& target, RequantForm form);

}  // namespace fold

#endif  // FOLD_COMPILER_TARGET_TARGET_H_
