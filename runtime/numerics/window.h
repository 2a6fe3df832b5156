// Windows over one channels-last image, as convolutions and pools slide them.
#ifndef RUNTIME_NUMERICS_WINDOW_H_
#define RUNTIME_NUMERICS_WINDOW_H_

#include <cstdint>

namespace fold {

// An image [height][width][channels]. Output row i, tap r reads input row
// i * stride_height - pad_top + r * dilation_height; columns likewise. Whatever
// is outside the image is padding.
struct Window {
  int64_t height = 1;
  int64_t width = 1;
  int64_t channels = 1;
  int64_t kernel_height = 1;
  int64_t kernel_width = 1;
  int64_t stride_height = 1;
  int64_t stride_width = 1;
  int64_t dilation_height = 1;
  int64_t dilation_width = 1;
  int64_t pad_top = 0;
  int64_t pad_left = 0;

  int64_t InputY(int64_t out_y, int64_t tap) const {
    return out_y * stride_height - pad_top + tap * dilation_height;
  }
  int64_t InputX(int64_t out_x, int64_t tap) const {
    return out_x * stride_width - pad_left + tap * dilation_width;
  }
};

// Taps [begin, end), possibly none.
struct TapRange {
  int64_t begin;
  int64_t end;
};

// Those of `taps` taps that fall into [0, size) when tap 0 falls at `origin`.
constexpr TapRange InsideTaps(int64_t origin, int64_t taps, int64_t dilation,
                              int64_t size) {
  int64_t begin = origin >= 0 ? 0 : (-origin + dilation - 1) / dilation;
  if (begin > taps) begin = taps;
  int64_t end = origin >= size ? 0 : (size - origin - 1) / dilation + 1;
  if (end > taps) end = taps;
  return {begin, end < begin ? begin : end};
}

}  // namespace fold

#endif  // RUNTIME_NUMERICS_WINDOW_H_
