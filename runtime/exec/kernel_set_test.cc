#include "runtime/exec/kernel_set.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace fold::exec {
namespace {

TEST(KernelSet, EveryLevelHasEveryFamily) {
  for (CpuLevel level :
       {CpuLevel::kPortable, CpuLevel::kAvx2, CpuLevel::kAvx512Vnni}) {
    const KernelSet set = KernelsFor(level);
    EXPECT_NE(set.gemm, nullptr);
    EXPECT_NE(set.depthwise, nullptr);
    EXPECT_NE(set.requantize, nullptr);
  }
  EXPECT_EQ(KernelsFor(CpuLevel::kPortable).gemm, &kernels::GemmTilePortable);
#if FOLD_X86_64
  EXPECT_EQ(KernelsFor(CpuLevel::kAvx2).gemm, &kernels::GemmTileAvx2);
  EXPECT_EQ(KernelsFor(CpuLevel::kAvx512Vnni).gemm,
            &kernels::GemmTileAvx512Vnni);
#endif
}

TEST(KernelSet, TheEnvironmentCapsTheLevel) {
  setenv("FOLD_CPU_LEVEL", "portable", 1);
  EXPECT_EQ(UsedCpuLevel(), CpuLevel::kPortable);
  setenv("FOLD_CPU_LEVEL", "avx2", 1);
  EXPECT_EQ(UsedCpuLevel(), DetectCpuLevel() < CpuLevel::kAvx2
                                ? DetectCpuLevel()
                                : CpuLevel::kAvx2);
  setenv("FOLD_CPU_LEVEL", "avx512vnni", 1);
  EXPECT_EQ(UsedCpuLevel(), DetectCpuLevel());
  setenv("FOLD_CPU_LEVEL", "no such level", 1);
  EXPECT_EQ(UsedCpuLevel(), CpuLevel::kPortable);
  unsetenv("FOLD_CPU_LEVEL");
  EXPECT_EQ(UsedCpuLevel(), DetectCpuLevel());
}

}  // namespace
}  // namespace fold::exec
