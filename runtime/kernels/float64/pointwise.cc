#include <cmath>

#include "runtime/kernels/float64/float64.h"
#include "runtime/kernels/float64/functions.h"

namespace fold::kernels {
namespace {

double Bound(double x, double lo, double hi) {
  return x < lo ? lo : x > hi ? hi : x;
}

}  // namespace

double F64BinaryOne(F64BinaryKind kind, double a, double b) {
  switch (kind) {
    case F64BinaryKind::kAdd:
      return a + b;
    case F64BinaryKind::kSub:
      return a - b;
    case F64BinaryKind::kMul:
      return a * b;
    case F64BinaryKind::kDiv:
      return a / b;
    case F64BinaryKind::kMin:
      return a != a ? a : b != b ? b : a < b ? a : b;
    case F64BinaryKind::kMax:
      return a != a ? a : b != b ? b : a > b ? a : b;
    case F64BinaryKind::kPow:
      return Power(a, b);
  }
  return a;
}

void F64Binary(F64BinaryKind kind, const StridedShape& shape, const double* a,
               const double* b, double* out) {
  const int last = shape.rank - 1;
  const int64_t a_step = shape.a_strides[last];
  const int64_t b_step = shape.b_strides[last];
  WalkRuns(shape, 0, shape.Elements(), INT64_MAX, [&](const Run& run) {
    for (int64_t i = 0; i < run.count; ++i) {
      out[run.start + i] =
          F64BinaryOne(kind, a[run.a + i * a_step], b[run.b + i * b_step]);
    }
  });
}

double F64UnaryOne(F64UnaryKind kind, double alpha, double beta, double x) {
  switch (kind) {
    case F64UnaryKind::kRelu:
      return x < 0 ? 0.0 : x;
    case F64UnaryKind::kClip:
      return Bound(x, alpha, beta);
    case F64UnaryKind::kSqrt:
      return std::sqrt(x);  // correctly rounded by IEEE 754
    case F64UnaryKind::kExp:
      return Exp(x);
    case F64UnaryKind::kNeg:
      return -x;
    case F64UnaryKind::kAbs:
      return std::fabs(x);
    case F64UnaryKind::kSigmoid:
      return Sigmoid(x);
    case F64UnaryKind::kTanh:
      return Tanh(x);
    case F64UnaryKind::kErf:
      return Erf(x);
    case F64UnaryKind::kReciprocal:
      return 1.0 / x;
    case F64UnaryKind::kLog:
      return Log(x);
    case F64UnaryKind::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case F64UnaryKind::kElu:
      return x < 0 ? alpha * ExpMinus1(x) : x;
    case F64UnaryKind::kHardSigmoid:
      return Bound(alpha * x + beta, 0.0, 1.0);
    case F64UnaryKind::kHardSwish:
      return x * Bound(x / 6.0 + 0.5, 0.0, 1.0);
    case F64UnaryKind::kGelu:
      return 0.5 * x * (1.0 + Erf(x / 1.4142135623730951));
    case F64UnaryKind::kSoftplus:
      return (x > 0 ? x : 0.0) + Log(1.0 + Exp(-std::fabs(x)));
    case F64UnaryKind::kFloor:
      return std::floor(x);
    case F64UnaryKind::kCeil:
      return std::ceil(x);
    case F64UnaryKind::kRound:
      return RoundHalfEven(x);
    case F64UnaryKind::kSign:
      return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
    case F64UnaryKind::kSilu:
      return x * Sigmoid(x);
  }
  return x;
}

void F64Unary(F64UnaryKind kind, double alpha, double beta, const double* x,
              int64_t count, double* out) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = F64UnaryOne(kind, alpha, beta, x[i]);
  }
}

void F64FromF32(const float* x, int64_t count, double* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<double>(x[i]);
}

void F64ToF32(const double* x, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(x[i]);
}

void F64FromCodes(CodeType type, const void* x, int64_t count, double* out) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<double>(LoadCode(type, x, i));
  }
}

}  // namespace fold::kernels
