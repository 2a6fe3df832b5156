// Bytes widened to 16 bits and multiplied in pairs (pmaddwd): exact, where the
// byte form (pmaddubsw) would saturate. A 16-byte load of weights is four
// columns of four k; its pair sums are added across at the end.
#include "runtime/kernels/gemm_s8/gemm_s8.h"

#if FOLD_X86_64
#include <immintrin.h>

namespace fold::kernels {
namespace {

FOLD_TARGET_AVX2 inline __m256i BroadcastX(const uint8_t* x, int32_t flip) {
  int32_t four;
  __builtin_memcpy(&four, x, 4);
  return _mm256_broadcastq_epi64(
      _mm_cvtepu8_epi16(_mm_cvtsi32_si128(four ^ flip)));
}

FOLD_TARGET_AVX2 inline __m256i Widen(const int8_t* w) {
  return _mm256_cvtepi8_epi16(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(w)));
}

// [n0 n0 n1 n1 | n2 n2 n3 n3] and the next four columns -> eight sums in order.
FOLD_TARGET_AVX2 inline __m256i AddPairs(__m256i a, __m256i b) {
  return _mm256_permute4x64_epi64(_mm256_hadd_epi32(a, b), 0xd8);
}

template <int kRows>
FOLD_TARGET_AVX2 void RowsBlock(const GemmTile& tile, int64_t row,
                                const int8_t* weights, int32_t* acc) {
  const int32_t flip = static_cast<int32_t>(tile.flip * 0x01010101u);
  const uint8_t* x = tile.x + row * tile.x_stride;
  __m256i sum[kRows][4];
  for (int i = 0; i < kRows; ++i) {
    for (int q = 0; q < 4; ++q) sum[i][q] = _mm256_setzero_si256();
  }
  for (int64_t k = 0; k < tile.depth; k += 4, weights += 64) {
    const __m256i w0 = Widen(weights);
    const __m256i w1 = Widen(weights + 16);
    const __m256i w2 = Widen(weights + 32);
    const __m256i w3 = Widen(weights + 48);
#pragma GCC unroll 2
    for (int i = 0; i < kRows; ++i) {
      const __m256i xi = BroadcastX(x + i * tile.x_stride + k, flip);
      sum[i][0] = _mm256_add_epi32(sum[i][0], _mm256_madd_epi16(xi, w0));
      sum[i][1] = _mm256_add_epi32(sum[i][1], _mm256_madd_epi16(xi, w1));
      sum[i][2] = _mm256_add_epi32(sum[i][2], _mm256_madd_epi16(xi, w2));
      sum[i][3] = _mm256_add_epi32(sum[i][3], _mm256_madd_epi16(xi, w3));
    }
  }
  for (int i = 0; i < kRows; ++i) {
    __m256i* to = reinterpret_cast<__m256i*>(acc + i * tile.acc_stride);
    _mm256_storeu_si256(to, AddPairs(sum[i][0], sum[i][1]));
    _mm256_storeu_si256(to + 1, AddPairs(sum[i][2], sum[i][3]));
  }
}

}  // namespace

FOLD_TARGET_AVX2 void GemmTileAvx2(const GemmTile& tile) {
  for (int64_t b = 0; b < tile.blocks; ++b) {
    const int8_t* weights = tile.weights + b * 16 * tile.depth;
    int32_t* acc = tile.acc + b * 16;
    int64_t i = 0;
    for (; i + 2 <= tile.rows; i += 2) {
      RowsBlock<2>(tile, i, weights, acc + i * tile.acc_stride);
    }
    if (i < tile.rows) {
      RowsBlock<1>(tile, i, weights, acc + i * tile.acc_stride);
    }
  }
}

}  // namespace fold::kernels
#endif
