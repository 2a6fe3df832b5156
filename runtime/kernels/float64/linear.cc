// The results are the accumulators: a row is swept once a weight, so every
// result adds its products in the documented order and the loops run along
// memory.
#include "runtime/kernels/float64/float64.h"

namespace fold::kernels {
namespace {

// out[x] += weight * input row, for the outputs whose tap lies inside.
void AddTap(const Window& w, const double* row, int64_t tap, double weight,
            int64_t out_width, double* out) {
  for (int64_t x = 0; x < out_width; ++x) {
    const int64_t column = w.InputX(x, tap);
    if (column >= 0 && column < w.width) out[x] += row[column] * weight;
  }
}

}  // namespace

void F64ConvPlane(const F64Conv& op, int64_t channel, double* out) {
  const Window& w = op.window;
  const int64_t taps = w.kernel_height * w.kernel_width;
  const int64_t first = channel / op.channels_per_group * op.depth;
  const double* weights = op.weights + channel * op.depth * taps;
  for (int64_t y = 0; y < op.out_height; ++y) {
    double* row = out + y * op.out_width;
    for (int64_t x = 0; x < op.out_width; ++x) row[x] = 0.0;
    const TapRange inside = InsideTaps(w.InputY(y, 0), w.kernel_height,
                                       w.dilation_height, w.height);
    for (int64_t c = 0; c < op.depth; ++c) {
      const double* plane = op.image + (first + c) * w.height * w.width;
      for (int64_t r = inside.begin; r < inside.end; ++r) {
        const double* line = plane + w.InputY(y, r) * w.width;
        for (int64_t q = 0; q < w.kernel_width; ++q) {
          AddTap(w, line, q, weights[c * taps + r * w.kernel_width + q],
                 op.out_width, row);
        }
      }
    }
    if (op.bias == nullptr) continue;
    for (int64_t x = 0; x < op.out_width; ++x) row[x] += op.bias[channel];
  }
}

void F64MatrixProduct(const F64Product& op) {
  for (int64_t i = 0; i < op.rows; ++i) {
    double* row = op.out + i * op.columns;
    for (int64_t j = 0; j < op.columns; ++j) row[j] = 0.0;
    for (int64_t k = 0; k < op.depth; ++k) {
      const double a = op.a[i * op.a_row + k * op.a_depth];
      const double* b = op.b + k * op.b_depth;
      for (int64_t j = 0; j < op.columns; ++j) {
        row[j] += a * b[j * op.b_column];
      }
    }
  }
}

}  // namespace fold::kernels
