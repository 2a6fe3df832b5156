#include "runtime/kernels/im2col/im2col.h"

namespace fold::kernels {

void Im2ColRowReference(const Window& window, const uint8_t* image,
                        int64_t out_y, int64_t out_x, int64_t first_channel,
                        int64_t depth, uint8_t flip, uint8_t padding,
                        uint8_t* row, int64_t row_bytes) {
  int64_t at = 0;
  for (int64_t r = 0; r < window.kernel_height; ++r) {
    for (int64_t q = 0; q < window.kernel_width; ++q) {
      const int64_t y = window.InputY(out_y, r);
      const int64_t x = window.InputX(out_x, q);
      const bool inside =
          y >= 0 && y < window.height && x >= 0 && x < window.width;
      for (int64_t c = 0; c < depth; ++c) {
        const int64_t from =
            (y * window.width + x) * window.channels + first_channel + c;
        row[at++] = inside ? image[from] ^ flip : padding;
      }
    }
  }
  while (at < row_bytes) row[at++] = 0;
}

}  // namespace fold::kernels
