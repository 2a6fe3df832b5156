// Which variant of each kernel family a machine runs.
#ifndef RUNTIME_EXEC_KERNEL_SET_H_
#define RUNTIME_EXEC_KERNEL_SET_H_

#include "runtime/kernels/dwconv_s8/dwconv_s8.h"
#include "runtime/kernels/gemm_s8/gemm_s8.h"
#include "runtime/numerics/cpu_level.h"
#include "runtime/numerics/requantize.h"

namespace fold::exec {

struct KernelSet {
  kernels::GemmTileFn gemm;
  kernels::DepthwisePointFn depthwise;
  RequantizeRowsFn requantize;
};

// The best variants up to `level`.
KernelSet KernelsFor(CpuLevel level);

// What the machine and its operating system support.
CpuLevel DetectCpuLevel();

// The detected level, or less if FOLD_CPU_LEVEL names a lower one. Another text
// in that variable counts as portable.
CpuLevel UsedCpuLevel();

const char* CpuLevelName(CpuLevel level);

}  // namespace fold::exec

#endif  // RUNTIME_EXEC_KERNEL_SET_H_
