// From an accumulator to a code: the one statement of the rounding rules. Every
// vectorised variant equals these bit for bit. Sums and products wrap modulo
// 2^64 (2^128 for Mul128): no input is undefined.
#ifndef RUNTIME_NUMERICS_REQUANTIZE_H_
#define RUNTIME_NUMERICS_REQUANTIZE_H_

#include <cstdint>

#include "runtime/numerics/code_type.h"

namespace fold {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

enum class RequantForm : uint8_t {
  kNone,
  kMul64,
  kHalfEven64,
  kRemainder,
  kMul128,
  kThresholds
};

constexpr int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

constexpr int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

constexpr int64_t Clamp(int64_t value, int64_t lo, int64_t hi) {
  return value < lo ? lo : value > hi ? hi : value;
}

// floor(t / 2^shift), 0 <= shift <= 63.
constexpr int64_t FloorShift(int64_t t, int shift) { return t >> shift; }

// t / 2^shift to the nearest integer, ties to even, 0 <= shift <= 62.
constexpr int64_t HalfEvenShift(int64_t t, int shift) {
  if (shift == 0) return t;
  const int64_t quotient = t >> shift;
  const uint64_t unit = uint64_t{1} << shift;
  const uint64_t rest = static_cast<uint64_t>(t) & (unit - 1);
  const uint64_t half = unit / 2;
  const bool up = rest > half || (rest == half && (quotient & 1) != 0);
  return quotient + (up ? 1 : 0);
}

// t / divisor to the nearest integer, ties to even, 1 <= divisor <= 2^62.
constexpr int64_t HalfEvenDivide(int64_t t, int64_t divisor) {
  int64_t quotient = t / divisor;
  int64_t rest = t % divisor;
  if (rest < 0) {
    rest += divisor;
    --quotient;
  }
  const int64_t other = divisor - rest;
  const bool up = rest > other || (rest == other && (quotient & 1) != 0);
  return quotient + (up ? 1 : 0);
}

// floor((acc * multiplier + addend) / 2^shift) clamped to [lo, hi],
// 0 <= shift <= 126.
constexpr int64_t Mul128(int64_t acc, int64_t multiplier, int64_t addend_high,
                         int64_t addend_low, int shift, int64_t lo,
                         int64_t hi) {
  const UInt128 addend =
      (static_cast<UInt128>(static_cast<uint64_t>(addend_high)) << 64) |
      static_cast<uint64_t>(addend_low);
  const UInt128 product =
      static_cast<UInt128>(static_cast<Int128>(acc) * multiplier);
  const Int128 y = static_cast<Int128>(product + addend) >> shift;
  return y < lo ? lo : y > hi ? hi : static_cast<int64_t>(y);
}

// How many of `count` ascending thresholds are <= acc.
constexpr int64_t CountReached(const int64_t* thresholds, int64_t count,
                               int64_t acc) {
  int64_t begin = 0;
  int64_t end = count;
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    if (thresholds[middle] <= acc) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// A requantization with its constants. Arrays have one element, or one a
// channel if `per_channel`; those that `form` does not name are null.
struct Requantizer {
  RequantForm form = RequantForm::kNone;
  bool per_channel = false;
  CodeType output = CodeType::kS32;
  const int64_t* multipliers = nullptr;
  const int64_t* addends = nullptr;
  const int64_t* addends_high = nullptr;
  const uint8_t* shifts = nullptr;
  const int64_t* divisors = nullptr;
  const int64_t* thresholds = nullptr;
  int64_t threshold_count = 0;
  const int32_t* first_codes = nullptr;
  const uint8_t* decreasing = nullptr;
  int64_t zero = 0;
  int64_t lo = 0;
  int64_t hi = 0;
};

// The code for accumulator `acc` of `channel`.
constexpr int64_t Requantize(const Requantizer& r, int64_t acc,
                             int64_t channel) {
  const int64_t c = r.per_channel ? channel : 0;
  switch (r.form) {
    case RequantForm::kNone:
      return acc;
    case RequantForm::kMul64: {
      const int64_t t = WrapAdd(WrapMul(acc, r.multipliers[c]), r.addends[c]);
      return Clamp(FloorShift(t, r.shifts[c]), r.lo, r.hi);
    }
    case RequantForm::kHalfEven64: {
      const int64_t t = WrapAdd(WrapMul(acc, r.multipliers[c]), r.addends[c]);
      return Clamp(WrapAdd(HalfEvenShift(t, r.shifts[c]), r.zero), r.lo, r.hi);
    }
    case RequantForm::kRemainder: {
      const int64_t t = WrapAdd(WrapMul(acc, r.multipliers[c]), r.addends[c]);
      return Clamp(WrapAdd(HalfEvenDivide(t, r.divisors[c]), r.zero), r.lo,
                   r.hi);
    }
    case RequantForm::kMul128:
      return Mul128(acc, r.multipliers[c], r.addends_high[c], r.addends[c],
                    r.shifts[c], r.lo, r.hi);
    case RequantForm::kThresholds: {
      const int64_t reached = CountReached(r.thresholds + c * r.threshold_count,
                                           r.threshold_count, acc);
      const int64_t first = r.first_codes[c];
      return Clamp(r.decreasing[c] != 0 ? first - reached : first + reached,
                   r.lo, r.hi);
    }
  }
  return 0;
}

// A block of accumulators to codes: row i, column j is acc[i * acc_stride + j],
// of channel first_channel + j, and goes to element i * out_stride + j of
// `out`. The type of every variant in runtime/kernels/requantize.
using RequantizeRowsFn = void (*)(const Requantizer& r, const int32_t* acc,
                                  int64_t rows, int64_t columns,
                                  int64_t acc_stride, int64_t first_channel,
                                  void* out, int64_t out_stride);

}  // namespace fold

#endif  // RUNTIME_NUMERICS_REQUANTIZE_H_
