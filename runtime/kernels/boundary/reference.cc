#include <cmath>

#include "runtime/kernels/boundary/boundary.h"

namespace fold::kernels {
namespace {

int64_t Offset(const StridedShape& shape, const int64_t* strides, int64_t i) {
  int64_t offset = 0;
  for (int d = shape.rank - 1; d >= 0; --d) {
    offset += i % shape.dims[d] * strides[d];
    i /= shape.dims[d];
  }
  return offset;
}

}  // namespace

void QuantizeRangeReference(const Quantize& op, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at = Offset(op.shape, op.shape.a_strides, i);
    const int64_t c = Offset(op.shape, op.shape.b_strides, i);
    const double x = op.x_type == FloatType::kF32
                         ? static_cast<const float*>(op.x)[at]
                         : static_cast<const double*>(op.x)[at];
    const double q = x / op.scales[c];
    double code = static_cast<double>(op.zeros[c]);
    if (std::isnan(q)) {
      if (op.rounding == Rounding::kSign) code = -1;
    } else {
      const double least = std::floor(q), most = std::ceil(q);
      const double even = std::fmod(least, 2.0) == 0 ? least : most;
      const double odd = even == least ? most : least;
      const double from = q < 0 ? least : most, to = q < 0 ? most : least;
      const bool tie = q - least == 0.5;
      double rounded = std::nearbyint(q);
      switch (op.rounding) {
        case Rounding::kHalfEven:
          break;
        case Rounding::kHalfOdd:
          if (tie) rounded = odd;
          break;
        case Rounding::kHalfFromZero:
          if (tie) rounded = from;
          break;
        case Rounding::kHalfToZero:
          if (tie) rounded = to;
          break;
        case Rounding::kHalfUp:
          if (tie) rounded = most;
          break;
        case Rounding::kFloor:
          rounded = least;
          break;
        case Rounding::kCeil:
          rounded = most;
          break;
        case Rounding::kFromZero:
          rounded = from;
          break;
        case Rounding::kToZero:
          rounded = to;
          break;
        case Rounding::kSign:
          rounded = q >= 0 ? 1 : -1;
          break;
      }
      code += rounded;
      if (code < static_cast<double>(op.lo)) code = static_cast<double>(op.lo);
      if (code > static_cast<double>(op.hi)) code = static_cast<double>(op.hi);
    }
    StoreCode(op.out_type, op.out, i, static_cast<int64_t>(code));
  }
}

void DequantizeRangeReference(const Dequantize& op, int64_t begin,
                              int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at = Offset(op.shape, op.shape.a_strides, i);
    const int64_t c = Offset(op.shape, op.shape.b_strides, i);
    const int64_t code = LoadCode(op.x_type, op.x, at) - op.zeros[c];
    const double product = static_cast<double>(code) * op.scales[c];
    const double y = product + (op.offsets != nullptr ? op.offsets[c] : 0.0);
    if (op.out_type == FloatType::kF32) {
      static_cast<float*>(op.out)[i] = static_cast<float>(y);
    } else {
      static_cast<double*>(op.out)[i] = y;
    }
  }
}

}  // namespace fold::kernels
