#include <cstring>

#include "runtime/kernels/im2col/im2col.h"

namespace fold::kernels {
namespace {

// Copies `count` bytes, each xor `flip`, eight at a time.
void CopyFlipped(const uint8_t* from, int64_t count, uint8_t flip,
                 uint8_t* to) {
  if (flip == 0) {
    std::memcpy(to, from, static_cast<size_t>(count));
    return;
  }
  const uint64_t flips = flip * 0x0101010101010101u;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, from + i, 8);
    eight ^= flips;
    std::memcpy(to + i, &eight, 8);
  }
  for (; i < count; ++i) to[i] = from[i] ^ flip;
}

}  // namespace

void Im2ColRow(const Window& window, const uint8_t* image, int64_t out_y,
               int64_t out_x, int64_t first_channel, int64_t depth,
               uint8_t flip, uint8_t padding, uint8_t* row, int64_t row_bytes) {
  const int64_t x = window.InputX(out_x, 0);
  const int64_t line = window.kernel_width * depth;
  const auto [begin, end] =
      InsideTaps(x, window.kernel_width, window.dilation_width, window.width);
  const bool contiguous =
      window.dilation_width == 1 && depth == window.channels;
  uint8_t* to = row;
  for (int64_t r = 0; r < window.kernel_height; ++r, to += line) {
    const int64_t y = window.InputY(out_y, r);
    if (y < 0 || y >= window.height || begin == end) {
      std::memset(to, padding, static_cast<size_t>(line));
      continue;
    }
    if (begin > 0) std::memset(to, padding, static_cast<size_t>(begin * depth));
    if (contiguous) {
      CopyFlipped(image + (y * window.width + x + begin) * window.channels,
                  (end - begin) * depth, flip, to + begin * depth);
    } else {
      for (int64_t q = begin; q < end; ++q) {
        const int64_t column = x + q * window.dilation_width;
        CopyFlipped(image + (y * window.width + column) * window.channels +
                        first_channel,
                    depth, flip, to + q * depth);
      }
    }
    std::memset(to + end * depth, padding,
                static_cast<size_t>((window.kernel_width - end) * depth));
  }
  std::memset(to, 0, static_cast<size_t>(row + row_bytes - to));
}

}  // namespace fold::kernels
