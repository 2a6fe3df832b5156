#include "runtime/kernels/gemm_s8/gemm_s8.h"

namespace fold::kernels {
namespace {

// One row by one block: sixteen sums that a compiler can keep in vectors.
void RowBlock(const uint8_t* x, uint8_t flip, const int8_t* weights,
              int64_t depth, int32_t* acc) {
  uint32_t sum[16] = {};
  for (int64_t k = 0; k < depth; k += 4, weights += 64) {
    const int32_t x0 = x[k] ^ flip;
    const int32_t x1 = x[k + 1] ^ flip;
    const int32_t x2 = x[k + 2] ^ flip;
    const int32_t x3 = x[k + 3] ^ flip;
    for (int n = 0; n < 16; ++n) {
      const int8_t* w = weights + 4 * n;
      sum[n] +=
          static_cast<uint32_t>(x0 * w[0] + x1 * w[1] + x2 * w[2] + x3 * w[3]);
    }
  }
  for (int n = 0; n < 16; ++n) acc[n] = static_cast<int32_t>(sum[n]);
}

}  // namespace

void GemmTilePortable(const GemmTile& tile) {
  for (int64_t b = 0; b < tile.blocks; ++b) {
    for (int64_t i = 0; i < tile.rows; ++i) {
      RowBlock(tile.x + i * tile.x_stride, tile.flip,
               tile.weights + b * 16 * tile.depth, tile.depth,
               tile.acc + i * tile.acc_stride + b * 16);
    }
  }
}

}  // namespace fold::kernels
