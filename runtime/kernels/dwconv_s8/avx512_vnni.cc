// As the AVX2 variant, sixteen channels in one register, with vpdpwssd and
// masks at the end of the channels.
#include "runtime/kernels/dwconv_s8/dwconv_s8.h"

#if FOLD_X86_64
#include <immintrin.h>

namespace fold::kernels {

FOLD_TARGET_AVX512 void DepthwisePointAvx512Vnni(const DepthwisePoint& point) {
  const __m128i flip = _mm_set1_epi8(static_cast<char>(point.flip));
  const __m512i zero = _mm512_set1_epi16(static_cast<int16_t>(point.x_zero));
  for (int64_t c = 0; c < point.channels; c += 16) {
    const int64_t left = point.channels - c;
    const __mmask16 mask =
        left >= 16 ? 0xffff : static_cast<__mmask16>((1u << left) - 1);
    __m512i sum = _mm512_maskz_loadu_epi32(mask, point.acc + c);
    const int16_t* weights = point.weights + 2 * c;
    for (int64_t p = 0; p < point.pairs; ++p, weights += point.pair_stride) {
      const __m128i x0 = _mm_xor_si128(
          _mm_maskz_loadu_epi8(mask, point.taps[2 * p] + c), flip);
      const __m128i x1 = _mm_xor_si128(
          _mm_maskz_loadu_epi8(mask, point.taps[2 * p + 1] + c), flip);
      const __m256i both = _mm256_set_m128i(_mm_unpackhi_epi8(x0, x1),
                                            _mm_unpacklo_epi8(x0, x1));
      const __m512i difference =
          _mm512_sub_epi16(_mm512_cvtepu8_epi16(both), zero);
      sum = _mm512_dpwssd_epi32(sum, difference, _mm512_loadu_si512(weights));
    }
    _mm512_mask_storeu_epi32(point.acc + c, mask, sum);
  }
}

}  // namespace fold::kernels
#endif
