#include "runtime/exec/kernel_set.h"

#include <cstdlib>
#include <cstring>

#include "runtime/kernels/requantize/requantize_rows.h"

namespace fold::exec {

KernelSet KernelsFor(CpuLevel level) {
  KernelSet set = {};
#define FOLD_KERNEL(needs, symbol) \
  if ((needs) <= level) set.gemm = kernels::symbol;
#include "runtime/kernels/gemm_s8/kernels.inc"
#undef FOLD_KERNEL
#define FOLD_KERNEL(needs, symbol) \
  if ((needs) <= level) set.depthwise = kernels::symbol;
#include "runtime/kernels/dwconv_s8/kernels.inc"
#undef FOLD_KERNEL
#define FOLD_KERNEL(needs, symbol) \
  if ((needs) <= level) set.requantize = kernels::symbol;
#include "runtime/kernels/requantize/kernels.inc"
#undef FOLD_KERNEL
  return set;
}

CpuLevel DetectCpuLevel() {
#if FOLD_X86_64
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) return CpuLevel::kPortable;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vnni")) {
    return CpuLevel::kAvx512Vnni;
  }
  return CpuLevel::kAvx2;
#else
  return CpuLevel::kPortable;
#endif
}

namespace {

constexpr CpuLevel kLevels[] = {CpuLevel::kPortable, CpuLevel::kAvx2,
                                CpuLevel::kAvx512Vnni};

}  // namespace

CpuLevel UsedCpuLevel() {
  const CpuLevel detected = DetectCpuLevel();
  const char* wanted = std::getenv("FOLD_CPU_LEVEL");
  if (wanted == nullptr || wanted[0] == '\0') return detected;
  for (CpuLevel level : kLevels) {
    if (std::strcmp(wanted, CpuLevelName(level)) == 0) {
      return level < detected ? level : detected;
    }
  }
  return CpuLevel::kPortable;
}

const char* CpuLevelName(CpuLevel level) {
  switch (level) {
    case CpuLevel::kAvx2:
      return "avx2";
    case CpuLevel::kAvx512Vnni:
      return "avx512vnni";
    default:
      return "portable";
  }
}

}  // namespace fold::exec
