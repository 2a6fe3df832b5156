#include "runtime/kernels/dwconv_s8/dwconv_s8.h"

namespace fold::kernels {

void DepthwisePointReference(const DepthwisePoint& point) {
  for (int64_t c = 0; c < point.channels; ++c) {
    uint32_t sum = static_cast<uint32_t>(point.acc[c]);
    for (int64_t t = 0; t < 2 * point.pairs; ++t) {
      const int32_t x = (point.taps[t][c] ^ point.flip) - point.x_zero;
      const int32_t w =
          point.weights[t / 2 * point.pair_stride + 2 * c + t % 2];
      sum += static_cast<uint32_t>(x * w);
    }
    point.acc[c] = static_cast<int32_t>(sum);
  }
}

}  // namespace fold::kernels
