// vpdpbusd: four unsigned by signed products a lane, added to 32 bits without
// saturation. A register tile is kRows rows by kBlocks blocks of 16 columns.
#include "runtime/kernels/gemm_s8/gemm_s8.h"

#if FOLD_X86_64
#include <immintrin.h>

namespace fold::kernels {
namespace {

template <int kRows, int kBlocks, bool kFlip>
FOLD_TARGET_AVX512 void RegisterTile(const GemmTile& tile, int64_t row,
                                     int64_t block) {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
  const uint8_t* x = tile.x + row * tile.x_stride;
  const int64_t block_bytes = 16 * tile.depth;
  const int8_t* weights = tile.weights + block * block_bytes;
  __m512i sum[kRows][kBlocks];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) sum[i][b] = _mm512_setzero_si512();
  }
  for (int64_t k = 0; k < tile.depth; k += 4, weights += 64) {
    __m512i w[kBlocks];
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) {
      w[b] = _mm512_loadu_si512(weights + b * block_bytes);
    }
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      int32_t four;
      __builtin_memcpy(&four, x + i * tile.x_stride + k, 4);
      __m512i xi = _mm512_set1_epi32(four);
      if (kFlip) xi = _mm512_xor_si512(xi, flip);
#pragma GCC unroll 4
      for (int b = 0; b < kBlocks; ++b) {
        sum[i][b] = _mm512_dpbusd_epi32(sum[i][b], xi, w[b]);
      }
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) {
      _mm512_storeu_si512(
          tile.acc + (row + i) * tile.acc_stride + (block + b) * 16, sum[i][b]);
    }
  }
}

// All rows of kBlocks blocks; kMost rows at a time.
template <int kMost, int kBlocks, bool kFlip>
FOLD_TARGET_AVX512 void Blocks(const GemmTile& tile, int64_t block) {
  int64_t i = 0;
  for (; i + kMost <= tile.rows; i += kMost) {
    RegisterTile<kMost, kBlocks, kFlip>(tile, i, block);
  }
  if (i + 4 <= tile.rows) {
    RegisterTile<4, kBlocks, kFlip>(tile, i, block);
    i += 4;
  }
  if (kMost > 6 && i + 4 <= tile.rows) {
    RegisterTile<4, kBlocks, kFlip>(tile, i, block);
    i += 4;
  }
  if (i + 2 <= tile.rows) {
    RegisterTile<2, kBlocks, kFlip>(tile, i, block);
    i += 2;
  }
  if (i < tile.rows) RegisterTile<1, kBlocks, kFlip>(tile, i, block);
}

template <bool kFlip>
FOLD_TARGET_AVX512 void Tile(const GemmTile& tile) {
  int64_t b = 0;
  for (; b + 4 <= tile.blocks; b += 4) Blocks<6, 4, kFlip>(tile, b);
  if (b + 2 <= tile.blocks) {
    Blocks<12, 2, kFlip>(tile, b);
    b += 2;
  }
  if (b < tile.blocks) Blocks<12, 1, kFlip>(tile, b);
}

}  // namespace

void GemmTileAvx512Vnni(const GemmTile& tile) {
  if (tile.flip != 0) {
    Tile<true>(tile);
  } else {
    Tile<false>(tile);
  }
}

}  // namespace fold::kernels
#endif
