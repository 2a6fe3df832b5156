// Float islands: double, logical (N,C,H,W) order, one fixed order of
// operations, compiled without contraction. docs/artifact_format.md states the
// order; with own elementary functions (functions.h) every machine gives the
// same bits.
#ifndef RUNTIME_KERNELS_FLOAT64_FLOAT64_H_
#define RUNTIME_KERNELS_FLOAT64_FLOAT64_H_

#include <cstdint>

#include "runtime/numerics/code_type.h"
#include "runtime/numerics/strided_shape.h"
#include "runtime/numerics/window.h"

namespace fold::kernels {

// One image [groups * depth][height][width] to one output plane
// [out_height][out_width] for output channel `channel`. Weights are [channels
// out][depth][kernel_height][kernel_width]; window.channels is not used.
struct F64Conv {
  Window window;
  const double* image = nullptr;
  const double* weights = nullptr;
  const double* bias = nullptr;  // may be null
  int64_t depth = 1;             // input channels of a group
  int64_t channels_per_group = 1;
  int64_t out_height = 1;
  int64_t out_width = 1;
};
void F64ConvPlane(const F64Conv& op, int64_t channel, double* out);

// out[i][j] = sum over k ascending of a(i, k) * b(k, j).
struct F64Product {
  const double* a = nullptr;
  const double* b = nullptr;
  double* out = nullptr;
  int64_t rows = 1;
  int64_t depth = 1;
  int64_t columns = 1;
  int64_t a_row = 0;  // strides, in elements
  int64_t a_depth = 0;
  int64_t b_depth = 0;
  int64_t b_column = 0;
};
void F64MatrixProduct(const F64Product& op);

enum class F64BinaryKind : uint8_t { kAdd, kSub, kMul, kDiv, kMin, kMax, kPow };
double F64BinaryOne(F64BinaryKind kind, double a, double b);
void F64Binary(F64BinaryKind kind, const StridedShape& shape, const double* a,
               const double* b, double* out);

enum class F64UnaryKind : uint8_t {
  kRelu,
  kClip,
  kSqrt,
  kExp,
  kNeg,
  kAbs,
  kSigmoid,
  kTanh,
  kErf,
  kReciprocal,
  kLog,
  kLeakyRelu,
  kElu,
  kHardSigmoid,
  kHardSwish,
  kGelu,
  kSoftplus,
  kFloor,
  kCeil,
  kRound,
  kSign,
  kSilu
};
double F64UnaryOne(F64UnaryKind kind, double alpha, double beta, double x);
void F64Unary(F64UnaryKind kind, double alpha, double beta, const double* x,
              int64_t count, double* out);

// x viewed as [outer][length][inner].
void F64Softmax(const double* x, int64_t outer, int64_t length, int64_t inner,
                double* out);

// One plane [height][width] of window to [out_height][out_width]. The divisor
// of output (i, j) is row_divisors[i] * column_divisors[j].
void F64AveragePoolPlane(const Window& window, const double* plane,
                         const int32_t* row_divisors,
                         const int32_t* column_divisors, int64_t out_height,
                         int64_t out_width, double* out);
void F64MaxPoolPlane(const Window& window, const double* plane,
                     int64_t out_height, int64_t out_width, double* out);

enum class F64ReduceKind : uint8_t { kSum, kMean, kMax, kMin, kSumSquare };
// kept walks the results, reduced what is reduced; a_strides go through x.
void F64Reduce(F64ReduceKind kind, const StridedShape& kept,
               const StridedShape& reduced, const double* x, double* out);

void F64FromF32(const float* x, int64_t count, double* out);
void F64ToF32(const double* x, int64_t count, float* out);
void F64FromCodes(CodeType type, const void* x, int64_t count, double* out);

}  // namespace fold::kernels

#endif  // RUNTIME_KERNELS_FLOAT64_FLOAT64_H_
