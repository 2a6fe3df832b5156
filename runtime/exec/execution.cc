#include "runtime/exec/execution.h"

namespace fold::exec {

using format::ElementType;
using format::Opcode;
using format::Storage;

const void* Execution::Bytes(const format::Tensor& tensor) const {
  switch (tensor.storage()) {
    case Storage::ARENA:
      return arena + tensor.offset();
    case Storage::CONSTANT:
      return constants + tensor.offset();
    case Storage::INPUT:
      return inputs[tensor.offset()];
    case Storage::OUTPUT:
      return outputs[tensor.offset()];
  }
  return nullptr;
}

void* Execution::MutableBytes(const format::Tensor& tensor) const {
  return tensor.storage() == Storage::OUTPUT ? outputs[tensor.offset()]
                                             : arena + tensor.offset();
}

CodeType CodeTypeOf(ElementType type) {
  switch (type) {
    case ElementType::U8:
    case ElementType::BOOL:
      return CodeType::kU8;
    case ElementType::S8:
      return CodeType::kS8;
    case ElementType::U16:
      return CodeType::kU16;
    case ElementType::S16:
      return CodeType::kS16;
    case ElementType::U32:
      return CodeType::kU32;
    default:
      return CodeType::kS32;
  }
}

Requantizer RequantizerFrom(const format::Requant& requant,
                            ElementType output) {
  Requantizer r;
  r.form = static_cast<RequantForm>(requant.form());
  r.output = CodeTypeOf(output);
  r.multipliers = format::View(requant.multipliers()).data;
  r.addends = format::View(requant.addends()).data;
  r.addends_high = format::View(requant.addends_high()).data;
  r.shifts = format::View(requant.shifts()).data;
  r.divisors = format::View(requant.divisors()).data;
  r.thresholds = format::View(requant.thresholds()).data;
  r.threshold_count = requant.threshold_count();
  r.first_codes = format::View(requant.first_codes()).data;
  r.decreasing = format::View(requant.decreasing()).data;
  r.zero = requant.zero();
  r.lo = requant.lo();
  r.hi = requant.hi();
  r.per_channel = format::View(requant.multipliers()).size > 1 ||
                  format::View(requant.first_codes()).size > 1;
  return r;
}

StridedShape Strided(const format::Shape& result, const int64_t* a_strides,
                     const int64_t* b_strides) {
  StridedShape s;
  s.rank = 0;
  for (int d = 0; d < result.rank; ++d) {
    if (result.dims[d] == 1) continue;
    const int64_t a = a_strides != nullptr ? a_strides[d] : 0;
    const int64_t b = b_strides != nullptr ? b_strides[d] : 0;
    const int before = s.rank - 1;
    if (s.rank > 0 && s.a_strides[before] == a * result.dims[d] &&
        s.b_strides[before] == b * result.dims[d]) {
      s.dims[before] *= result.dims[d];
      s.a_strides[before] = a;
      s.b_strides[before] = b;
      continue;
    }
    s.dims[s.rank] = result.dims[d];
    s.a_strides[s.rank] = a;
    s.b_strides[s.rank] = b;
    ++s.rank;
  }
  if (s.rank == 0) {
    s.rank = 1;
    s.dims[0] = 1;
  }
  return s;
}

namespace {

using RunFn = void (*)(const OpRun& r);

RunFn FunctionOf(Opcode opcode) {
  switch (opcode) {
    // clang-format off
    case Opcode::QUANTIZE: return RunQuantize;
    case Opcode::DEQUANTIZE: return RunDequantize;
    case Opcode::CONV: return RunConv;
    case Opcode::DEPTHWISE_CONV: return RunDepthwiseConv;
    case Opcode::FULLY_CONNECTED: return RunFullyConnected;
    case Opcode::REQUANTIZE: return RunRequantize;
    case Opcode::ADD2: return RunAdd2;
    case Opcode::MUL2: return RunMul2;
    case Opcode::TABLE_1: return RunTable1;
    case Opcode::TABLE_2: return RunTable2;
    case Opcode::MAX_POOL: return RunMaxPool;
    case Opcode::AVERAGE_POOL: return RunAveragePool;
    case Opcode::REDUCE_SUM: return RunReduceSum;
    case Opcode::TRANSPOSE: return RunTranspose;
    case Opcode::COPY: return RunCopy;
    case Opcode::CONCAT: return RunConcat;
    case Opcode::PAD: return RunPad;
    case Opcode::SLICE: return RunSlice;
    case Opcode::CLAMP: return RunClamp;
    case Opcode::RECIPROCAL: return RunReciprocal;
    case Opcode::F64_CONV: return RunF64Conv;
    case Opcode::F64_GEMM: return RunF64Gemm;
    case Opcode::F64_MATMUL: return RunF64Matmul;
    case Opcode::F64_BINARY: return RunF64Binary;
    case Opcode::F64_UNARY: return RunF64Unary;
    case Opcode::F64_SOFTMAX: return RunF64Softmax;
    case Opcode::F64_AVERAGE_POOL: return RunF64AveragePool;
    case Opcode::F64_MAX_POOL: return RunF64MaxPool;
    case Opcode::F64_REDUCE: return RunF64Reduce;
    case Opcode::F64_CAST: return RunF64Cast;
    // clang-format on
    case Opcode::INVALID:
      break;
  }
  return nullptr;
}

// Reports the taps on tensor `written`; -1: those that no op writes.
void ReportTaps(const Execution& run, int32_t written) {
  const auto* taps = run.artifact->taps();
  if (run.tap == nullptr || taps == nullptr) return;
  for (uint32_t i = 0; i < taps->size(); ++i) {
    const int32_t index = taps->Get(i)->tensor();
    const format::Tensor& tensor = run.TensorAt(index);
    const bool given = tensor.storage() == Storage::CONSTANT ||
                       tensor.storage() == Storage::INPUT;
    if (given ? written < 0 : index == written) {
      run.tap(run.tap_context, i, run.Bytes(tensor));
    }
  }
}

}  // namespace

void RunAll(const Execution& run) {
  ReportTaps(run, -1);
  const auto* ops = run.artifact->ops();
  if (ops == nullptr) return;
  for (uint32_t i = 0; i < ops->size(); ++i) {
    const OpRun r = {&run, ops->Get(i)};
    FunctionOf(r.op->opcode())(r);
    ReportTaps(run, r.op->outputs()->Get(0));
  }
}

}  // namespace fold::exec
