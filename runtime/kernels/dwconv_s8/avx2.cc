// Sixteen channels: two taps' bytes interleaved, widened, minus the zero point,
// and pmaddwd with the weights, which are stored in that order.
#include "runtime/kernels/dwconv_s8/dwconv_s8.h"

#if FOLD_X86_64
#include <immintrin.h>

namespace fold::kernels {
namespace {

FOLD_TARGET_AVX2 inline __m128i Load16(const uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

FOLD_TARGET_AVX2 inline __m256i Load32(const void* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

FOLD_TARGET_AVX2 void SixteenChannels(const DepthwisePoint& point, int64_t c) {
  const __m128i flip = _mm_set1_epi8(static_cast<char>(point.flip));
  const __m256i zero = _mm256_set1_epi16(static_cast<int16_t>(point.x_zero));
  __m256i* acc = reinterpret_cast<__m256i*>(point.acc + c);
  __m256i low = _mm256_loadu_si256(acc);
  __m256i high = _mm256_loadu_si256(acc + 1);
  const int16_t* weights = point.weights + 2 * c;
  for (int64_t p = 0; p < point.pairs; ++p, weights += point.pair_stride) {
    const __m128i x0 = _mm_xor_si128(Load16(point.taps[2 * p] + c), flip);
    const __m128i x1 = _mm_xor_si128(Load16(point.taps[2 * p + 1] + c), flip);
    const __m256i d0 =
        _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_unpacklo_epi8(x0, x1)), zero);
    const __m256i d1 =
        _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_unpackhi_epi8(x0, x1)), zero);
    low = _mm256_add_epi32(low, _mm256_madd_epi16(d0, Load32(weights)));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(d1, Load32(weights + 16)));
  }
  _mm256_storeu_si256(acc, low);
  _mm256_storeu_si256(acc + 1, high);
}

}  // namespace

void DepthwisePointAvx2(const DepthwisePoint& point) {
  int64_t c = 0;
  for (; c + 16 <= point.channels; c += 16) SixteenChannels(point, c);
  for (; c < point.channels; ++c) {
    uint32_t sum = static_cast<uint32_t>(point.acc[c]);
    for (int64_t t = 0; t < 2 * point.pairs; ++t) {
      const int32_t x = (point.taps[t][c] ^ point.flip) - point.x_zero;
      sum += static_cast<uint32_t>(
          x * point.weights[t / 2 * point.pair_stride + 2 * c + t % 2]);
    }
    point.acc[c] = static_cast<int32_t>(sum);
  }
}

}  // namespace fold::kernels
#endif
