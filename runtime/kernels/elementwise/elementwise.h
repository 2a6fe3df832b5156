// Integer operations that look at one element of each operand at a time. All
// compute the results [begin, end) of the row-major output, so that a caller
// can share one op out; in place is allowed where operand and result have the
// same element size and walk the same way. b_strides of a one-operand op step
// through channels: the b offset of an element is its channel.
#ifndef RUNTIME_KERNELS_ELEMENTWISE_ELEMENTWISE_H_
#define RUNTIME_KERNELS_ELEMENTWISE_ELEMENTWISE_H_

#include <cstdint>

#include "runtime/numerics/code_type.h"
#include "runtime/numerics/requantize.h"
#include "runtime/numerics/strided_shape.h"

namespace fold::kernels {

enum class PairForm : uint8_t { kMul64, kHalfEven64, kRemainder };

// t = a * a_multiplier + b * b_multiplier + addend modulo 2^64, then
//   kMul64       clamp(t >> shift)
//   kHalfEven64  clamp(half_even(t / 2^shift) + zero)
//   kRemainder   clamp(half_even(t / divisor) + zero)
struct Add2 {
  StridedShape shape;
  CodeType a_type = CodeType::kS8;
  CodeType b_type = CodeType::kS8;
  CodeType out_type = CodeType::kS8;
  const void* a = nullptr;
  const void* b = nullptr;
  void* out = nullptr;
  PairForm form = PairForm::kMul64;
  int64_t a_multiplier = 0;
  int64_t b_multiplier = 0;
  int64_t addend = 0;
  int shift = 0;
  int64_t divisor = 1;
  int64_t zero = 0;
  int64_t lo = 0;
  int64_t hi = 0;
};
void Add2Range(const Add2& op, int64_t begin, int64_t end);
void Add2RangeReference(const Add2& op, int64_t begin, int64_t end);

// requant((a - a_zero) * (b - b_zero)), channel 0.
struct Mul2 {
  StridedShape shape;
  CodeType a_type = CodeType::kS8;
  CodeType b_type = CodeType::kS8;
  const void* a = nullptr;
  const void* b = nullptr;
  void* out = nullptr;
  int64_t a_zero = 0;
  int64_t b_zero = 0;
  Requantizer requant;
};
void Mul2Range(const Mul2& op, int64_t begin, int64_t end);
void Mul2RangeReference(const Mul2& op, int64_t begin, int64_t end);

// requant(x - x_zero, channel).
struct RequantizeCodes {
  StridedShape shape;
  CodeType x_type = CodeType::kS8;
  const void* x = nullptr;
  void* out = nullptr;
  int64_t x_zero = 0;
  Requantizer requant;
};
void RequantizeCodesRange(const RequantizeCodes& op, int64_t begin,
                          int64_t end);
void RequantizeCodesRangeReference(const RequantizeCodes& op, int64_t begin,
                                   int64_t end);

// Entry channel * 2^bits + (x - lowest code of x_type) of a table whose
// elements have element_bytes bytes (1, 2, 4 or 8); x has 8 or 16 bits.
struct Table1 {
  StridedShape shape;
  CodeType x_type = CodeType::kS8;
  const void* x = nullptr;
  const void* table = nullptr;
  void* out = nullptr;
  int64_t element_bytes = 1;
};
void Table1Range(const Table1& op, int64_t begin, int64_t end);
void Table1RangeReference(const Table1& op, int64_t begin, int64_t end);

// Entry (a - lowest) * 256 + (b - lowest); a and b have 8 bits.
struct Table2 {
  StridedShape shape;
  CodeType a_type = CodeType::kS8;
  CodeType b_type = CodeType::kS8;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* table = nullptr;
  void* out = nullptr;
  int64_t element_bytes = 1;
};
void Table2Range(const Table2& op, int64_t begin, int64_t end);
void Table2RangeReference(const Table2& op, int64_t begin, int64_t end);

// With d = x - x_zero: clamp(half_even(N / (D * d)) + zero), where d = 0 gives
// hi, lo or clamp(zero) by the sign of N. N and D have one element, or one a
// channel; |N| <= 2^62, 1 <= D <= 2^46; x has 8 or 16 bits and x_zero is one of
// its codes.
struct ReciprocalCodes {
  StridedShape shape;
  CodeType x_type = CodeType::kS8;
  CodeType out_type = CodeType::kS8;
  const void* x = nullptr;
  void* out = nullptr;
  int64_t x_zero = 0;
  const int64_t* numerators = nullptr;
  const int64_t* denominators = nullptr;
  int64_t zero = 0;
  int64_t lo = 0;
  int64_t hi = 0;
};
void ReciprocalRange(const ReciprocalCodes& op, int64_t begin, int64_t end);
void ReciprocalRangeReference(const ReciprocalCodes& op, int64_t begin,
                              int64_t end);

// clamp(x, lo, hi), elements [begin, end) of two equal arrays.
struct ClampCodes {
  CodeType type = CodeType::kS8;
  const void* x = nullptr;
  void* out = nullptr;
  int64_t lo = 0;
  int64_t hi = 0;
};
void ClampCodesRange(const ClampCodes& op, int64_t begin, int64_t end);

}  // namespace fold::kernels

#endif  // RUNTIME_KERNELS_ELEMENTWISE_ELEMENTWISE_H_
