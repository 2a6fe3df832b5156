#include "compiler/ops/broadcast.h"

#include <algorithm>

namespace fold {

std::optional<Shape> BroadcastShape(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

int64_t BroadcastIndex(int64_t i, const Shape& out, const Shape& shape) {
  int64_t index = 0, stride = 1;
  for (size_t d = 0; d < out.size(); ++d) {
    const int64_t size = out[out.size() - 1 - d];
    const int64_t at = i % size;
    i /= size;
    if (d >= shape.size()) break;
    const int64_t own = shape[shape.size() - 1 - d];
    if (own != 1) index += at * stride;
    stride *= own;
  }
  return index;
}

}  // namespace fold
