// Depthwise convolution at one output position: for each channel the sum over
// the taps of (x - x_zero) * w, added to 32-bit accumulators.
//
//   acc[c] += sum over t < 2 * pairs of (x'[t][c] - x_zero) * w[t][c]
//
// x'[t] are the codes at tap t, xor `flip`, as 0..255, and x_zero is the
// input's zero point in that same form; w is the weight minus its zero point,
// laid out [t / 2][pair_stride / 2 channels][2] int16. A tap outside the image
// points at codes equal to the zero point. The driver advances `taps` and
// `weights` to the first of `channels` channels. Modulo 2^32. Exactly
// `channels` codes a tap are read; the weights of channels up to the next
// multiple of 16 are readable.
#ifndef RUNTIME_KERNELS_DWCONV_S8_DWCONV_S8_H_
#define RUNTIME_KERNELS_DWCONV_S8_DWCONV_S8_H_

#include <cstdint>

#include "runtime/numerics/cpu_level.h"

namespace fold::kernels {

struct DepthwisePoint {
  const uint8_t* const* taps = nullptr;  // 2 * pairs pointers
  int64_t pairs = 0;
  uint8_t flip = 0;
  int32_t x_zero = 0;  // 0..255, after the flip
  const int16_t* weights = nullptr;
  int64_t pair_stride = 0;  // int16 elements from a pair of taps to the next
  int64_t channels = 0;
  int32_t* acc = nullptr;
};

using DepthwisePointFn = void (*)(const DepthwisePoint& point);

#define FOLD_KERNEL(level, symbol) void symbol(const DepthwisePoint& point);
#include "runtime/kernels/dwconv_s8/kernels.inc"
#undef FOLD_KERNEL

void DepthwisePointReference(const DepthwisePoint& point);

}  // namespace fold::kernels

#endif  // RUNTIME_KERNELS_DWCONV_S8_DWCONV_S8_H_
