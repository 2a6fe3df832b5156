// Four channels at a time in 64-bit lanes. AVX2 has no arithmetic 64-bit shift
// and no 64-bit minimum: both are put together from what it has.
#include "runtime/kernels/requantize/requantize_rows.h"

#if FOLD_X86_64
#include <immintrin.h>

namespace fold::kernels {
namespace {

FOLD_TARGET_AVX2 inline __m256i FloorShift4(__m256i t, __m256i shift) {
  const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
  return _mm256_sub_epi64(_mm256_srlv_epi64(_mm256_xor_si256(t, sign), shift),
                          _mm256_srlv_epi64(sign, shift));
}

FOLD_TARGET_AVX2 inline __m256i Clamp4(__m256i y, __m256i lo, __m256i hi) {
  y = _mm256_blendv_epi8(y, lo, _mm256_cmpgt_epi64(lo, y));
  return _mm256_blendv_epi8(y, hi, _mm256_cmpgt_epi64(y, hi));
}

struct Constants4 {
  __m256i multiplier;
  __m256i addend;
  __m256i shift;
};

FOLD_TARGET_AVX2 inline Constants4 Load4(const Requantizer& r, int64_t c) {
  if (!r.per_channel) {
    return {_mm256_set1_epi64x(r.multipliers[0]),
            _mm256_set1_epi64x(r.addends[0]), _mm256_set1_epi64x(r.shifts[0])};
  }
  int32_t shifts;
  __builtin_memcpy(&shifts, r.shifts + c, 4);
  return {
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(r.multipliers + c)),
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(r.addends + c)),
      _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(shifts))};
}

// Low byte of each of the four 64-bit lanes.
FOLD_TARGET_AVX2 inline int32_t LowBytes(__m256i y) {
  const __m256i pick = _mm256_setr_epi8(
      0, 8, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0,
      8, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i bytes = _mm256_shuffle_epi8(y, pick);
  return _mm_cvtsi128_si32(_mm_or_si128(_mm256_castsi256_si128(bytes),
                                        _mm256_extracti128_si256(bytes, 1)));
}

FOLD_TARGET_AVX2 void Mul64Bytes(const Requantizer& r, const int32_t* acc,
                                 int64_t rows, int64_t columns,
                                 int64_t acc_stride, int64_t first_channel,
                                 uint8_t* out, int64_t out_stride) {
  const __m256i lo = _mm256_set1_epi64x(r.lo);
  const __m256i hi = _mm256_set1_epi64x(r.hi);
  for (int64_t j = 0; j + 4 <= columns; j += 4) {
    const Constants4 k = Load4(r, first_channel + j);
    for (int64_t i = 0; i < rows; ++i) {
      const __m256i a = _mm256_cvtepi32_epi64(_mm_loadu_si128(
          reinterpret_cast<const __m128i*>(acc + i * acc_stride + j)));
      const __m256i t =
          _mm256_add_epi64(_mm256_mul_epi32(a, k.multiplier), k.addend);
      const int32_t codes = LowBytes(Clamp4(FloorShift4(t, k.shift), lo, hi));
      __builtin_memcpy(out + i * out_stride + j, &codes, 4);
    }
  }
}

}  // namespace

void RequantizeRowsAvx2(const Requantizer& r, const int32_t* acc, int64_t rows,
                        int64_t columns, int64_t acc_stride,
                        int64_t first_channel, void* out, int64_t out_stride) {
  if (r.form != RequantForm::kMul64 || CodeBytes(r.output) != 1) {
    RequantizeRowsPortable(r, acc, rows, columns, acc_stride, first_channel,
                           out, out_stride);
    return;
  }
  Mul64Bytes(r, acc, rows, columns, acc_stride, first_channel,
             static_cast<uint8_t*>(out), out_stride);
  const int64_t done = columns / 4 * 4;
  if (done < columns) {
    RequantizeRowsPortable(r, acc + done, rows, columns - done, acc_stride,
                           first_channel + done,
                           static_cast<uint8_t*>(out) + done, out_stride);
  }
}

}  // namespace fold::kernels
#endif
