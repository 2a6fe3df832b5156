// Products of a tile of 8-bit rows with packed 8-bit columns, as 32-bit
// accumulators: the inner part of convolution and of matrix multiplication.
//
//   acc[i][n] = sum over k of x'[i][k] * w'[n][k]   modulo 2^32
//
// x' is the row's byte xor `flip`, as 0..255 (flip 0x80 turns S8 codes into
// U8 ones that are 128 higher); w' is a packed signed byte, laid out
// [n / 16][k / 4][16][4] with K padded to 4 and N to 16 by zeros. Zero points
// are the caller's business (runtime/format/packing.h has the identity).
//
// Rows have `depth` readable bytes each (a multiple of 4). Columns come in
// blocks of 16; `acc` gets rows * 16 * blocks numbers, nothing else is
// written. Buffers do not overlap and need no alignment.
#ifndef RUNTIME_KERNELS_GEMM_S8_GEMM_S8_H_
#define RUNTIME_KERNELS_GEMM_S8_GEMM_S8_H_

#include <cstdint>

#include "runtime/numerics/cpu_level.h"

namespace fold::kernels {

struct GemmTile {
  const uint8_t* x = nullptr;
  int64_t x_stride = 0;  // bytes from a row to the next
  uint8_t flip = 0;      // 0 or 0x80
  const int8_t* weights = nullptr;
  int64_t depth = 0;  // padded K
  int64_t rows = 0;
  int64_t blocks = 0;
  int32_t* acc = nullptr;
  int64_t acc_stride = 0;  // elements, >= 16 * blocks
};

using GemmTileFn = void (*)(const GemmTile& tile);

#define FOLD_KERNEL(level, symbol) void symbol(const GemmTile& tile);
#include "runtime/kernels/gemm_s8/kernels.inc"
#undef FOLD_KERNEL

void GemmTileReference(const GemmTile& tile);

// sums[i] = sum over k < count of x'[i][k].
void RowSums(const GemmTile& tile, int64_t count, uint32_t* sums);

}  // namespace fold::kernels

#endif  // RUNTIME_KERNELS_GEMM_S8_GEMM_S8_H_
