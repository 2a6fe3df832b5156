// Runs of up to kRun elements go through arrays of 64-bit numbers, so that the
// element types are looked at once a run and the loops stay simple.
#include "runtime/kernels/elementwise/elementwise.h"

namespace fold::kernels {
namespace {

constexpr int64_t kRun = 128;

void AddRun(const Add2& op, const int64_t* a, const int64_t* b, int64_t count,
            int64_t* y) {
  for (int64_t i = 0; i < count; ++i) {
    y[i] = WrapAdd(
        WrapAdd(WrapMul(a[i], op.a_multiplier), WrapMul(b[i], op.b_multiplier)),
        op.addend);
  }
  switch (op.form) {
    case PairForm::kMul64:
      for (int64_t i = 0; i < count; ++i) y[i] = FloorShift(y[i], op.shift);
      break;
    case PairForm::kHalfEven64:
      for (int64_t i = 0; i < count; ++i) {
        y[i] = WrapAdd(HalfEvenShift(y[i], op.shift), op.zero);
      }
      break;
    case PairForm::kRemainder:
      for (int64_t i = 0; i < count; ++i) {
        y[i] = WrapAdd(HalfEvenDivide(y[i], op.divisor), op.zero);
      }
      break;
  }
  for (int64_t i = 0; i < count; ++i) y[i] = Clamp(y[i], op.lo, op.hi);
}

}  // namespace

void Add2Range(const Add2& op, int64_t begin, int64_t end) {
  const int last = op.shape.rank - 1;
  WalkRuns(op.shape, begin, end, kRun, [&](const Run& run) {
    int64_t a[kRun];
    int64_t b[kRun];
    LoadCodes(op.a_type, op.a, run.a, op.shape.a_strides[last], run.count, a);
    LoadCodes(op.b_type, op.b, run.b, op.shape.b_strides[last], run.count, b);
    int64_t y[kRun];
    AddRun(op, a, b, run.count, y);
    StoreCodes(op.out_type, op.out, run.start, run.count, y);
  });
}

void Mul2Range(const Mul2& op, int64_t begin, int64_t end) {
  const int last = op.shape.rank - 1;
  WalkRuns(op.shape, begin, end, kRun, [&](const Run& run) {
    int64_t a[kRun];
    int64_t b[kRun];
    LoadCodes(op.a_type, op.a, run.a, op.shape.a_strides[last], run.count, a);
    LoadCodes(op.b_type, op.b, run.b, op.shape.b_strides[last], run.count, b);
    for (int64_t i = 0; i < run.count; ++i) {
      a[i] = Requantize(op.requant, WrapMul(a[i] - op.a_zero, b[i] - op.b_zero),
                        0);
    }
    StoreCodes(op.requant.output, op.out, run.start, run.count, a);
  });
}

void RequantizeCodesRange(const RequantizeCodes& op, int64_t begin,
                          int64_t end) {
  const int last = op.shape.rank - 1;
  const int64_t step = op.shape.b_strides[last];
  WalkRuns(op.shape, begin, end, kRun, [&](const Run& run) {
    int64_t x[kRun];
    LoadCodes(op.x_type, op.x, run.a, op.shape.a_strides[last], run.count, x);
    for (int64_t i = 0; i < run.count; ++i) {
      x[i] =
          Requantize(op.requant, WrapAdd(x[i], -op.x_zero), run.b + i * step);
    }
    StoreCodes(op.requant.output, op.out, run.start, run.count, x);
  });
}

void ReciprocalRange(const ReciprocalCodes& op, int64_t begin, int64_t end) {
  const int last = op.shape.rank - 1;
  const int64_t step = op.shape.b_strides[last];
  WalkRuns(op.shape, begin, end, kRun, [&](const Run& run) {
    int64_t x[kRun];
    LoadCodes(op.x_type, op.x, run.a, op.shape.a_strides[last], run.count, x);
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t channel = run.b + i * step;
      const int64_t d = x[i] - op.x_zero;
      // N / (D * -d) = -N / (D * d); 0 / 0 has no sign to saturate by.
      const int64_t n =
          d < 0 ? -op.numerators[channel] : op.numerators[channel];
      if (d == 0) {
        x[i] = n > 0 ? op.hi : n < 0 ? op.lo : Clamp(op.zero, op.lo, op.hi);
        continue;
      }
      const int64_t divisor = op.denominators[channel] * (d < 0 ? -d : d);
      x[i] = Clamp(HalfEvenDivide(n, divisor) + op.zero, op.lo, op.hi);
    }
    StoreCodes(op.out_type, op.out, run.start, run.count, x);
  });
}

void ClampCodesRange(const ClampCodes& op, int64_t begin, int64_t end) {
  for (int64_t at = begin; at < end; at += kRun) {
    const int64_t count = end - at < kRun ? end - at : kRun;
    int64_t x[kRun];
    LoadCodes(op.type, op.x, at, 1, count, x);
    for (int64_t i = 0; i < count; ++i) x[i] = Clamp(x[i], op.lo, op.hi);
    StoreCodes(op.type, op.out, at, count, x);
  }
}

}  // namespace fold::kernels
