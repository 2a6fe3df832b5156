// Between floating point and codes: where the network's signature, or the edge
// of a float island, is. a_strides walk the input, so that a permutation comes
// for free; b_strides give the channel. Results [begin, end) of the row-major
// output.
#ifndef RUNTIME_KERNELS_BOUNDARY_BOUNDARY_H_
#define RUNTIME_KERNELS_BOUNDARY_BOUNDARY_H_

#include <cstdint>

#include "runtime/numerics/code_type.h"
#include "runtime/numerics/rounding.h"
#include "runtime/numerics/strided_shape.h"

namespace fold::kernels {

enum class FloatType : uint8_t { kF32, kF64 };

// q = x / scales[c] in double; NaN gives zeros[c] (-1 for kSign); else
// rounding(q) + zeros[c] clamped to [lo, hi], which are codes of out_type;
// infinities saturate. Scales are finite and above 0. One scale and zero, or
// one a channel. kSign: zeros are 0, and [lo, hi] lies within [-1, 1].
struct Quantize {
  StridedShape shape;
  FloatType x_type = FloatType::kF32;
  CodeType out_type = CodeType::kS8;
  const void* x = nullptr;
  void* out = nullptr;
  const double* scales = nullptr;
  const int64_t* zeros = nullptr;
  int64_t lo = 0;
  int64_t hi = 0;
  Rounding rounding = Rounding::kHalfEven;
};
void QuantizeRange(const Quantize& op, int64_t begin, int64_t end);
void QuantizeRangeReference(const Quantize& op, int64_t begin, int64_t end);

// (x - zeros[c]) * scales[c] + offsets[c] in double, rounded once to out_type.
// offsets may be null: 0.
struct Dequantize {
  StridedShape shape;
  CodeType x_type = CodeType::kS8;
  FloatType out_type = FloatType::kF32;
  const void* x = nullptr;
  void* out = nullptr;
  const double* scales = nullptr;
  const int64_t* zeros = nullptr;
  const double* offsets = nullptr;
};
void DequantizeRange(const Dequantize& op, int64_t begin, int64_t end);
void DequantizeRangeReference(const Dequantize& op, int64_t begin, int64_t end);

}  // namespace fold::kernels

#endif  // RUNTIME_KERNELS_BOUNDARY_BOUNDARY_H_
