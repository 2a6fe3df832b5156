#include <limits>

#include "runtime/kernels/float64/float64.h"
#include "runtime/kernels/float64/functions.h"

namespace fold::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Calls visit(element) for the window's part inside the plane, in order.
template <typename Visit>
void ForInside(const Window& w, int64_t out_y, int64_t out_x, Visit visit) {
  const TapRange rows = InsideTaps(w.InputY(out_y, 0), w.kernel_height,
                                   w.dilation_height, w.height);
  const TapRange columns =
      InsideTaps(w.InputX(out_x, 0), w.kernel_width, w.dilation_width, w.width);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    for (int64_t q = columns.begin; q < columns.end; ++q) {
      visit(w.InputY(out_y, r) * w.width + w.InputX(out_x, q));
    }
  }
}

double Larger(double a, double b) {
  return F64BinaryOne(F64BinaryKind::kMax, a, b);
}

}  // namespace

void F64Softmax(const double* x, int64_t outer, int64_t length, int64_t inner,
                double* out) {
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const double* from = x + o * length * inner + i;
      double* to = out + o * length * inner + i;
      double most = -kInfinity;
      for (int64_t k = 0; k < length; ++k) most = Larger(most, from[k * inner]);
      double sum = 0.0;
      for (int64_t k = 0; k < length; ++k) {
        to[k * inner] = Exp(from[k * inner] - most);
        sum += to[k * inner];
      }
      for (int64_t k = 0; k < length; ++k) to[k * inner] /= sum;
    }
  }
}

void F64AveragePoolPlane(const Window& window, const double* plane,
                         const int32_t* row_divisors,
                         const int32_t* column_divisors, int64_t out_height,
                         int64_t out_width, double* out) {
  for (int64_t y = 0; y < out_height; ++y) {
    for (int64_t x = 0; x < out_width; ++x) {
      double sum = 0.0;
      ForInside(window, y, x, [&](int64_t at) { sum += plane[at]; });
      out[y * out_width + x] = sum / (static_cast<double>(row_divisors[y]) *
                                      static_cast<double>(column_divisors[x]));
    }
  }
}

void F64MaxPoolPlane(const Window& window, const double* plane,
                     int64_t out_height, int64_t out_width, double* out) {
  for (int64_t y = 0; y < out_height; ++y) {
    for (int64_t x = 0; x < out_width; ++x) {
      double most = -kInfinity;
      ForInside(window, y, x,
                [&](int64_t at) { most = Larger(most, plane[at]); });
      out[y * out_width + x] = most;
    }
  }
}

namespace {

double ReduceOne(F64ReduceKind kind, const StridedShape& reduced,
                 const double* x, int64_t count) {
  double y = kind == F64ReduceKind::kMax   ? -kInfinity
             : kind == F64ReduceKind::kMin ? kInfinity
                                           : 0.0;
  const int64_t step = reduced.a_strides[reduced.rank - 1];
  WalkRuns(reduced, 0, count, INT64_MAX, [&](const Run& run) {
    for (int64_t i = 0; i < run.count; ++i) {
      const double value = x[run.a + i * step];
      switch (kind) {
        case F64ReduceKind::kSum:
        case F64ReduceKind::kMean:
          y += value;
          break;
        case F64ReduceKind::kMax:
          y = Larger(y, value);
          break;
        case F64ReduceKind::kMin:
          y = F64BinaryOne(F64BinaryKind::kMin, y, value);
          break;
        case F64ReduceKind::kSumSquare:
          y += value * value;
          break;
      }
    }
  });
  if (kind == F64ReduceKind::kMean) y /= static_cast<double>(count);
  return y;
}

}  // namespace

void F64Reduce(F64ReduceKind kind, const StridedShape& kept,
               const StridedShape& reduced, const double* x, double* out) {
  const int64_t count = reduced.Elements();
  const int64_t step = kept.a_strides[kept.rank - 1];
  WalkRuns(kept, 0, kept.Elements(), INT64_MAX, [&](const Run& run) {
    for (int64_t i = 0; i < run.count; ++i) {
      out[run.start + i] =
          ReduceOne(kind, reduced, x + run.a + i * step, count);
    }
  });
}

}  // namespace fold::kernels
