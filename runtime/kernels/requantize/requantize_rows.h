// A block of 32-bit accumulators to codes; see RequantizeRowsFn. Row i, column
// j is acc[i * acc_stride + j], of channel first_channel + j (0 where the
// requantizer is not per channel), and goes to element i * out_stride + j of
// `out`, whose type is r.output. Buffers do not overlap; nothing outside the
// rows * columns elements is read or written. Every variant gives what
// fold::Requantize gives.
#ifndef RUNTIME_KERNELS_REQUANTIZE_REQUANTIZE_ROWS_H_
#define RUNTIME_KERNELS_REQUANTIZE_REQUANTIZE_ROWS_H_

#include "runtime/numerics/cpu_level.h"
#include "runtime/numerics/requantize.h"

namespace fold::kernels {

#define FOLD_KERNEL(level, symbol)                                        \
  void symbol(const Requantizer& r, const int32_t* acc, int64_t rows,     \
              int64_t columns, int64_t acc_stride, int64_t first_channel, \
              void* out, int64_t out_stride);
#include "runtime/kernels/requantize/kernels.inc"
#undef FOLD_KERNEL

void RequantizeRowsReference(const Requantizer& r, const int32_t* acc,
                             int64_t rows, int64_t columns, int64_t acc_stride,
                             int64_t first_channel, void* out,
                             int64_t out_stride);

}  // namespace fold::kernels

#endif  // RUNTIME_KERNELS_REQUANTIZE_REQUANTIZE_ROWS_H_
