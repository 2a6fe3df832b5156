#include "runtime/kernels/dwconv_s8/dwconv_s8.h"

namespace fold::kernels {

// Taps outside, channels inside: the inner loop runs along memory.
void DepthwisePointPortable(const DepthwisePoint& point) {
  for (int64_t p = 0; p < point.pairs; ++p) {
    const uint8_t* x0 = point.taps[2 * p];
    const uint8_t* x1 = point.taps[2 * p + 1];
    const int16_t* w = point.weights + p * point.pair_stride;
    for (int64_t c = 0; c < point.channels; ++c) {
      const int32_t d0 = (x0[c] ^ point.flip) - point.x_zero;
      const int32_t d1 = (x1[c] ^ point.flip) - point.x_zero;
      point.acc[c] =
          static_cast<int32_t>(static_cast<uint32_t>(point.acc[c]) +
                               static_cast<uint32_t>(d0 * w[2 * c]) +
                               static_cast<uint32_t>(d1 * w[2 * c + 1]));
    }
  }
}

}  // namespace fold::kernels
