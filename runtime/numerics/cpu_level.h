// The instruction-set levels for which kernels exist, lowest first.
#ifndef RUNTIME_NUMERICS_CPU_LEVEL_H_
#define RUNTIME_NUMERICS_CPU_LEVEL_H_

#include <cstdint>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define FOLD_X86_64 1
// Marks one function for one level. Functions and not files are marked, so
// that an inline function of a shared header is never compiled for a level
// which the machine that runs it may not have.
#define FOLD_TARGET_AVX2 __attribute__((target("avx2")))
#define FOLD_TARGET_AVX512                              \
  __attribute__((                                       \
      target("avx2,avx512f,avx512bw,avx512dq,avx512vl," \
             "avx512vnni")))
#else
#define FOLD_X86_64 0
#endif

namespace fold {

enum class CpuLevel : uint8_t { kPortable = 0, kAvx2 = 1, kAvx512Vnni = 2 };

}  // namespace fold

#endif  // RUNTIME_NUMERICS_CPU_LEVEL_H_
