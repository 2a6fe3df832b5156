// One run of an artifact that the reader has accepted: where its tensors are,
// which kernels it uses, who shares the work out. Everything here trusts the
// reader's checks.
#ifndef RUNTIME_EXEC_EXECUTION_H_
#define RUNTIME_EXEC_EXECUTION_H_

#include <cstdint>

#include "runtime/exec/kernel_set.h"
#include "runtime/format/view.h"
#include "runtime/numerics/strided_shape.h"
#include "runtime/numerics/window.h"

namespace fold::exec {

using ParallelFor = void (*)(void* context, uint32_t tasks,
                             void (*task)(void* task_context, uint32_t i),
                             void* task_context);
using TapCallback = void (*)(void* context, uint32_t index, const void* stored);

struct Execution {
  const format::Artifact* artifact = nullptr;
  const uint8_t* constants = nullptr;
  uint8_t* arena = nullptr;
  const void* const* inputs = nullptr;
  void* const* outputs = nullptr;
  KernelSet kernels = {};
  ParallelFor parallel_for = nullptr;
  void* parallel_context = nullptr;
  uint32_t workers = 1;
  TapCallback tap = nullptr;
  void* tap_context = nullptr;

  const format::Tensor& TensorAt(int32_t index) const {
    return *artifact->tensors()->Get(static_cast<uint32_t>(index));
  }
  const void* Bytes(const format::Tensor& tensor) const;
  void* MutableBytes(const format::Tensor& tensor) const;

  // Calls body(begin, end, worker) for parts of [0, units) of at least `grain`
  // units, at once if there are workers; worker < min(workers, limit).
  template <typename Body>
  void Share(int64_t units, int64_t grain, int64_t limit,
             const Body& body) const;
};

// One op of it.
struct OpRun {
  const Execution* run = nullptr;
  const format::Op* op = nullptr;

  const format::Tensor& Input(int i) const {
    return run->TensorAt(op->inputs()->Get(static_cast<uint32_t>(i)));
  }
  int InputCount() const { return static_cast<int>(op->inputs()->size()); }
  const format::Tensor& Output() const {
    return run->TensorAt(op->outputs()->Get(0));
  }
  template <typename T>
  const T* InputAs(int i) const {
    return static_cast<const T*>(run->Bytes(Input(i)));
  }
  template <typename T>
  T* OutputAs() const {
    return static_cast<T*>(run->MutableBytes(Output()));
  }
};

// Runs every op in order. Requires that every buffer is as the artifact says.
void RunAll(const Execution& run);

// From the artifact's structs to the kernels'.
CodeType CodeTypeOf(format::ElementType type);
Requantizer RequantizerFrom(const format::Requant& requant,
                            format::ElementType output);
template <typename Parameters>
Window WindowFrom(const Parameters& p, const format::ImageShape& image) {
  Window w;
  w.height = image.height;
  w.width = image.width;
  w.channels = image.channels;
  w.kernel_height = p.kernel_height();
  w.kernel_width = p.kernel_width();
  w.stride_height = p.stride_height();
  w.stride_width = p.stride_width();
  w.dilation_height = p.dilation_height();
  w.dilation_width = p.dilation_width();
  w.pad_top = p.pad_top();
  w.pad_left = p.pad_left();
  return w;
}
// Walks `result`; strides are of its dimensions. Dimensions of 1 are left out
// and neighbours that step as one are joined.
StridedShape Strided(const format::Shape& result, const int64_t* a_strides,
                     const int64_t* b_strides);

// One function a kernel opcode.
void RunQuantize(const OpRun& r);
void RunDequantize(const OpRun& r);
void RunConv(const OpRun& r);
void RunDepthwiseConv(const OpRun& r);
void RunFullyConnected(const OpRun& r);
void RunRequantize(const OpRun& r);
void RunAdd2(const OpRun& r);
void RunMul2(const OpRun& r);
void RunTable1(const OpRun& r);
void RunTable2(const OpRun& r);
void RunMaxPool(const OpRun& r);
void RunAveragePool(const OpRun& r);
void RunReduceSum(const OpRun& r);
void RunTranspose(const OpRun& r);
void RunCopy(const OpRun& r);
void RunConcat(const OpRun& r);
void RunPad(const OpRun& r);
void RunSlice(const OpRun& r);
void RunClamp(const OpRun& r);
void RunReciprocal(const OpRun& r);
void RunF64Conv(const OpRun& r);
void RunF64Gemm(const OpRun& r);
void RunF64Matmul(const OpRun& r);
void RunF64Binary(const OpRun& r);
void RunF64Unary(const OpRun& r);
void RunF64Softmax(const OpRun& r);
void RunF64AveragePool(const OpRun& r);
void RunF64MaxPool(const OpRun& r);
void RunF64Reduce(const OpRun& r);
void RunF64Cast(const OpRun& r);

template <typename Body>
void Execution::Share(int64_t units, int64_t grain, int64_t limit,
                      const Body& body) const {
  int64_t tasks = units / (grain < 1 ? 1 : grain);
  if (tasks > limit) tasks = limit;
  if (tasks > workers) tasks = workers;
  if (parallel_for == nullptr || tasks <= 1) {
    body(int64_t{0}, units, int64_t{0});
    return;
  }
  struct Job {
    const Body* body;
    int64_t units;
    int64_t tasks;
  } job = {&body, units, tasks};
  parallel_for(
      parallel_context, static_cast<uint32_t>(tasks),
      [](void* context, uint32_t i) {
        const Job& j = *static_cast<const Job*>(context);
        (*j.body)(j.units * i / j.tasks, j.units * (i + 1) / j.tasks,
                  int64_t{i});
      },
      &job);
}

}  // namespace fold::exec

#endif  // RUNTIME_EXEC_EXECUTION_H_
