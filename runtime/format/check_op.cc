// What holds for every op: operands, parameters, scratch, overlap.
#include "runtime/format/check.h"

namespace fold::format {
namespace {

constexpr int kMany = 4096;

// opcode, name, operands from .. to, in place, scratch, rule
constexpr OpRule kRules[] = {
    {Opcode::QUANTIZE, "QUANTIZE", 1, 1, false, false, CheckQuantize},
    {Opcode::DEQUANTIZE, "DEQUANTIZE", 1, 1, false, false, CheckDequantize},
    {Opcode::CONV, "CONV", 3, 4, false, true, CheckConv},
    {Opcode::DEPTHWISE_CONV, "DEPTHWISE_CONV", 2, 2, false, false,
     CheckDepthwiseConv},
    {Opcode::FULLY_CONNECTED, "FULLY_CONNECTED", 3, 4, false, true,
     CheckFullyConnected},
    {Opcode::REQUANTIZE, "REQUANTIZE", 1, 1, true, false, CheckRequantize},
    {Opcode::ADD2, "ADD2", 2, 2, true, false, CheckAdd2},
    {Opcode::MUL2, "MUL2", 2, 2, true, false, CheckMul2},
    {Opcode::TABLE_1, "TABLE_1", 2, 2, true, false, CheckTable1},
    {Opcode::TABLE_2, "TABLE_2", 3, 3, true, false, CheckTable2},
    {Opcode::MAX_POOL, "MAX_POOL", 1, 1, false, false, CheckMaxPool},
    {Opcode::AVERAGE_POOL, "AVERAGE_POOL", 1, 1, false, false,
     CheckAveragePool},
    {Opcode::REDUCE_SUM, "REDUCE_SUM", 1, 1, false, false, CheckReduceSum},
    {Opcode::TRANSPOSE, "TRANSPOSE", 1, 1, false, false, CheckTranspose},
    {Opcode::COPY, "COPY", 1, 1, true, false, CheckCopy},
    {Opcode::CONCAT, "CONCAT", 1, kMany, false, false, CheckConcat},
    {Opcode::PAD, "PAD", 1, 1, false, false, CheckPad},
    {Opcode::SLICE, "SLICE", 1, 1, false, false, CheckSlice},
    {Opcode::CLAMP, "CLAMP", 1, 1, true, false, CheckClamp},
    {Opcode::RECIPROCAL, "RECIPROCAL", 1, 1, true, false, CheckReciprocal},
    {Opcode::F64_CONV, "F64_CONV", 2, 3, false, false, CheckF64Conv},
    {Opcode::F64_GEMM, "F64_GEMM", 2, 3, false, false, CheckF64Gemm},
    {Opcode::F64_MATMUL, "F64_MATMUL", 2, 2, false, false, CheckF64Matmul},
    {Opcode::F64_BINARY, "F64_BINARY", 2, 2, true, false, CheckF64Binary},
    {Opcode::F64_UNARY, "F64_UNARY", 1, 1, true, false, CheckF64Unary},
    {Opcode::F64_SOFTMAX, "F64_SOFTMAX", 1, 1, true, false, CheckF64Softmax},
    {Opcode::F64_AVERAGE_POOL, "F64_AVERAGE_POOL", 1, 1, false, false,
     CheckF64AveragePool},
    {Opcode::F64_MAX_POOL, "F64_MAX_POOL", 1, 1, false, false, CheckF64MaxPool},
    {Opcode::F64_REDUCE, "F64_REDUCE", 1, 1, false, false, CheckF64Reduce},
    {Opcode::F64_CAST, "F64_CAST", 1, 1, false, false, CheckF64Cast},
};

// Bytes [begin, end) of the arena, or of a caller's output buffer.
struct Place {
  Storage storage;
  uint64_t buffer;
  uint64_t begin;
  uint64_t end;
};

Place PlaceOf(const Tensor& tensor) {
  if (tensor.storage() == Storage::ARENA) {
    return {Storage::ARENA, 0, tensor.offset(),
            tensor.offset() + tensor.bytes()};
  }
  return {tensor.storage(), tensor.offset(), 0, tensor.bytes()};
}

bool Overlap(const Place& a, const Place& b) {
  return a.storage == b.storage && a.storage != Storage::CONSTANT &&
         a.buffer == b.buffer && a.begin < b.end && b.begin < a.end;
}

// An element-by-element op may overwrite an operand that it reads in step.
bool MayShare(const OpRule& rule, const Tensor& input, const Tensor& output) {
  if (!rule.in_place || input.bytes() != output.bytes() ||
      ElementBytes(input.type()) != ElementBytes(output.type()) ||
      input.offset() != output.offset()) {
    return false;
  }
  return rule.opcode == Opcode::COPY || ShapeOf(input) == ShapeOf(output);
}

bool CheckOperands(const OpCheck& c, const OpRule& rule) {
  const Artifact& artifact = *c.check->artifact;
  const int64_t tensors =
      artifact.tensors() != nullptr ? artifact.tensors()->size() : 0;
  const Span<int32_t> inputs = View(c.op->inputs());
  const Span<int32_t> outputs = View(c.op->outputs());
  if (inputs.size < rule.least_inputs || inputs.size > rule.most_inputs) {
    return c.Fail("%lld operands", static_cast<long long>(inputs.size));
  }
  if (outputs.size != 1) {
    return c.Fail("%lld results", static_cast<long long>(outputs.size));
  }
  if (!c.check->Spend(inputs.size)) return false;
  for (int64_t i = 0; i < inputs.size; ++i) {
    if (inputs.data[i] < 0 || inputs.data[i] >= tensors) {
      return c.Fail("operand %lld: no tensor %d", static_cast<long long>(i),
                    inputs.data[i]);
    }
  }
  if (outputs.data[0] < 0 || outputs.data[0] >= tensors) {
    return c.Fail("result: no tensor %d", outputs.data[0]);
  }
  if (c.op->parameters_type() != ParametersOf(rule.opcode) ||
      c.op->parameters() == nullptr) {
    return c.Fail("parameters of another opcode");
  }
  return true;
}

bool CheckPlaces(const OpCheck& c, const OpRule& rule) {
  const Tensor& output = c.Output();
  if (output.storage() != Storage::ARENA &&
      output.storage() != Storage::OUTPUT) {
    return c.Fail("the result is not writable");
  }
  const uint64_t arena = c.check->artifact->plan()->arena_bytes();
  const uint64_t scratch_bytes = c.op->scratch_bytes();
  const uint64_t scratch = c.op->scratch_offset();
  if (!rule.scratch && (scratch_bytes != 0 || scratch != 0)) {
    return c.Fail("needs no scratch");
  }
  if (scratch_bytes > arena || scratch > arena - scratch_bytes ||
      scratch % 64 != 0) {
    return c.Fail("scratch is misplaced");
  }
  const Place working = {Storage::ARENA, 0, scratch, scratch + scratch_bytes};
  if (scratch_bytes > 0 && Overlap(working, PlaceOf(output))) {
    return c.Fail("scratch overlaps the result");
  }
  for (int i = 0; i < c.InputCount(); ++i) {
    const Tensor& input = c.Input(i);
    if (scratch_bytes > 0 && Overlap(working, PlaceOf(input))) {
      return c.Fail("scratch overlaps operand %d", i);
    }
    if (Overlap(PlaceOf(input), PlaceOf(output)) &&
        !MayShare(rule, input, output)) {
      return c.Fail("operand %d overlaps the result", i);
    }
  }
  return true;
}

}  // namespace

const OpRule* FindOpRule(Opcode opcode) {
  for (const OpRule& rule : kRules) {
    if (rule.opcode == opcode) return &rule;
  }
  return nullptr;
}

OpParameters ParametersOf(Opcode opcode) {
  switch (opcode) {
#define FOLD_OPCODE(number, name, parameters)                            \
  static_assert(static_cast<int>(Opcode::name) == (number), "fold.fbs"); \
  case Opcode::name:                                                     \
    return OpParameters::parameters;
#include "runtime/format/kernel_opcodes.def"
    default:
      return OpParameters::NONE;
  }
}

bool CheckOp(Check* check, int64_t index) {
  OpCheck c;
  c.check = check;
  c.op = check->artifact->ops()->Get(static_cast<uint32_t>(index));
  c.index = index;
  const OpRule* rule = FindOpRule(c.op->opcode());
  if (rule == nullptr) {
    return c.Fail("unknown opcode %u", static_cast<unsigned>(c.op->opcode()));
  }
  return CheckOperands(c, *rule) && CheckPlaces(c, *rule) && rule->check(c);
}

bool CheckPermutation(const OpCheck& c, Span<int32_t> permutation, int rank) {
  if (permutation.size == rank && IsPermutation(permutation.data, rank)) {
    return true;
  }
  return c.Fail("not a permutation of %d dimensions", rank);
}

bool CheckBounds(const OpCheck& c, int64_t lo, int64_t hi, ElementType type) {
  int64_t least = 0;
  int64_t most = 0;
  switch (type) {
    case ElementType::U8:
      most = UINT8_MAX;
      break;
    case ElementType::S8:
      least = INT8_MIN;
      most = INT8_MAX;
      break;
    case ElementType::U16:
      most = UINT16_MAX;
      break;
    case ElementType::S16:
      least = INT16_MIN;
      most = INT16_MAX;
      break;
    case ElementType::S32:
      least = INT32_MIN;
      most = INT32_MAX;
      break;
    default:
      return c.Fail("not a type of codes: %u", static_cast<unsigned>(type));
  }
  if (lo <= hi && lo >= least && hi <= most) return true;
  return c.Fail("codes from %lld to %lld", static_cast<long long>(lo),
                static_cast<long long>(hi));
}

bool CheckConstant(const OpCheck& c, const Tensor& tensor, ElementType type,
                   int64_t elements, const char* what) {
  if (tensor.storage() != Storage::CONSTANT || tensor.type() != type) {
    return c.Fail("%s: not a constant of the right type", what);
  }
  const int64_t size = ShapeOf(tensor).Elements();
  if (size == elements) return true;
  return c.Fail("%s: %lld elements, not %lld", what,
                static_cast<long long>(size), static_cast<long long>(elements));
}

}  // namespace fold::format
