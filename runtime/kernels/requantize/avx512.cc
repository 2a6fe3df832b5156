// Eight channels at a time in 64-bit lanes; the ends of rows are masked.
#include "runtime/kernels/requantize/requantize_rows.h"

#if FOLD_X86_64
#include <immintrin.h>

namespace fold::kernels {
namespace {

struct Constants8 {
  __m512i multiplier;
  __m512i addend;
  __m512i shift;
};

FOLD_TARGET_AVX512 inline Constants8 Load8(const Requantizer& r, int64_t c,
                                           __mmask8 mask) {
  if (!r.per_channel) {
    return {_mm512_set1_epi64(r.multipliers[0]),
            _mm512_set1_epi64(r.addends[0]), _mm512_set1_epi64(r.shifts[0])};
  }
  return {_mm512_maskz_loadu_epi64(mask, r.multipliers + c),
          _mm512_maskz_loadu_epi64(mask, r.addends + c),
          _mm512_cvtepu8_epi64(_mm_maskz_loadu_epi8(mask, r.shifts + c))};
}

FOLD_TARGET_AVX512 inline __m512i HalfEvenShift8(__m512i t, __m512i shift) {
  const __m512i one = _mm512_set1_epi64(1);
  const __m512i quotient = _mm512_srav_epi64(t, shift);
  const __m512i unit = _mm512_sllv_epi64(one, shift);
  const __m512i rest = _mm512_and_si512(t, _mm512_sub_epi64(unit, one));
  // With shift 0 there is no rest, and the half must not look reached.
  const __m512i half = _mm512_max_epi64(_mm512_srli_epi64(unit, 1), one);
  const __mmask8 above = _mm512_cmpgt_epi64_mask(rest, half);
  const __mmask8 tie = _mm512_cmpeq_epi64_mask(rest, half) &
                       _mm512_test_epi64_mask(quotient, one);
  return _mm512_mask_add_epi64(quotient, above | tie, quotient, one);
}

FOLD_TARGET_AVX512 inline void Store8(CodeType type, void* out, int64_t at,
                                      __mmask8 mask, __m512i y) {
  switch (CodeBytes(type)) {
    case 1:
      _mm512_mask_cvtepi64_storeu_epi8(static_cast<uint8_t*>(out) + at, mask,
                                       y);
      return;
    case 2:
      _mm512_mask_cvtepi64_storeu_epi16(static_cast<uint16_t*>(out) + at, mask,
                                        y);
      return;
    default:
      _mm512_mask_cvtepi64_storeu_epi32(static_cast<uint32_t*>(out) + at, mask,
                                        y);
  }
}

FOLD_TARGET_AVX512 void ShiftRows(const Requantizer& r, const int32_t* acc,
                                  int64_t rows, int64_t columns,
                                  int64_t acc_stride, int64_t first_channel,
                                  void* out, int64_t out_stride) {
  const __m512i lo = _mm512_set1_epi64(r.lo);
  const __m512i hi = _mm512_set1_epi64(r.hi);
  const __m512i zero = _mm512_set1_epi64(r.zero);
  const bool half_even = r.form == RequantForm::kHalfEven64;
  for (int64_t j = 0; j < columns; j += 8) {
    const int64_t left = columns - j;
    const __mmask8 mask =
        left >= 8 ? 0xff : static_cast<__mmask8>((1u << left) - 1);
    const Constants8 k = Load8(r, first_channel + j, mask);
    for (int64_t i = 0; i < rows; ++i) {
      const __m512i a = _mm512_cvtepi32_epi64(
          _mm256_maskz_loadu_epi32(mask, acc + i * acc_stride + j));
      __m512i y;
      if (half_even) {
        const __m512i t =
            _mm512_add_epi64(_mm512_mullo_epi64(a, k.multiplier), k.addend);
        y = _mm512_add_epi64(HalfEvenShift8(t, k.shift), zero);
      } else {
        const __m512i t =
            _mm512_add_epi64(_mm512_mul_epi32(a, k.multiplier), k.addend);
        y = _mm512_srav_epi64(t, k.shift);
      }
      y = _mm512_min_epi64(_mm512_max_epi64(y, lo), hi);
      Store8(r.output, out, i * out_stride + j, mask, y);
    }
  }
}

}  // namespace

void RequantizeRowsAvx512(const Requantizer& r, const int32_t* acc,
                          int64_t rows, int64_t columns, int64_t acc_stride,
                          int64_t first_channel, void* out,
                          int64_t out_stride) {
  if (r.form == RequantForm::kMul64 || r.form == RequantForm::kHalfEven64) {
    ShiftRows(r, acc, rows, columns, acc_stride, first_channel, out,
              out_stride);
    return;
  }
  RequantizeRowsPortable(r, acc, rows, columns, acc_stride, first_channel, out,
                         out_stride);
}

}  // namespace fold::kernels
#endif
