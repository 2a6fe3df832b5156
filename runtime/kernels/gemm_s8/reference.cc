#include "runtime/kernels/gemm_s8/gemm_s8.h"

namespace fold::kernels {

void GemmTileReference(const GemmTile& tile) {
  for (int64_t i = 0; i < tile.rows; ++i) {
    for (int64_t n = 0; n < tile.blocks * 16; ++n) {
      uint32_t sum = 0;
      for (int64_t k = 0; k < tile.depth; ++k) {
        const int64_t at =
            n / 16 * 16 * tile.depth + k / 4 * 64 + n % 16 * 4 + k % 4;
        const int32_t x = tile.x[i * tile.x_stride + k] ^ tile.flip;
        sum += static_cast<uint32_t>(x * tile.weights[at]);
      }
      tile.acc[i * tile.acc_stride + n] = static_cast<int32_t>(sum);
    }
  }
}

void RowSums(const GemmTile& tile, int64_t count, uint32_t* sums) {
  for (int64_t i = 0; i < tile.rows; ++i) {
    const uint8_t* row = tile.x + i * tile.x_stride;
    uint32_t sum = 0;
    for (int64_t k = 0; k < count; ++k) sum += row[k] ^ tile.flip;
    sums[i] = sum;
  }
}

}  // namespace fold::kernels
