// Permuted elements are gathered into blocks first: rows may be as short as
// three channels, and the arithmetic wants long loops.
#include "runtime/kernels/boundary/boundary.h"

namespace fold::kernels {
namespace {

constexpr int64_t kBlock = 128;

// x and channel of the results [begin, begin + count).
template <typename Element, typename Value>
void Gather(const StridedShape& shape, const Element* x, int64_t begin,
            int64_t count, Value* values, int64_t* channels) {
  const int last = shape.rank - 1;
  const int64_t a = shape.a_strides[last];
  const int64_t b = shape.b_strides[last];
  WalkRuns(shape, begin, begin + count, kBlock, [&](const Run& run) {
    Value* to = values + (run.start - begin);
    int64_t* channel = channels + (run.start - begin);
    for (int64_t i = 0; i < run.count; ++i) {
      to[i] = x[run.a + i * a];
      channel[i] = run.b + i * b;
    }
  });
}

void GatherCodes(const Dequantize& op, int64_t begin, int64_t count,
                 int64_t* codes, int64_t* channels) {
  const int last = op.shape.rank - 1;
  WalkRuns(op.shape, begin, begin + count, kBlock, [&](const Run& run) {
    const int64_t at = run.start - begin;
    LoadCodes(op.x_type, op.x, run.a, op.shape.a_strides[last], run.count,
              codes + at);
    for (int64_t i = 0; i < run.count; ++i) {
      channels[at + i] = run.b + i * op.shape.b_strides[last];
    }
  });
}

// The bounds are whole numbers, so clamping before rounding is the same as
// after, and leaves a magnitude at which adding 1.5 * 2^52 drops the fraction,
// ties to even.
void QuantizeHalfEven(const Quantize& op, const double* x,
                      const int64_t* channels, int64_t count, int64_t* codes) {
  constexpr double kRound = 6755399441055744.0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t zero = op.zeros[channels[i]];
    const double least = static_cast<double>(op.lo - zero);
    const double most = static_cast<double>(op.hi - zero);
    double q = x[i] / op.scales[channels[i]];
    const bool number = q == q;
    q = q < least ? least : q;
    q = q > most ? most : q;
    q = number ? q : 0.0;
    codes[i] = static_cast<int64_t>((q + kRound) - kRound) + zero;
  }
}

void QuantizeBlock(const Quantize& op, const double* x, const int64_t* channels,
                   int64_t count, int64_t* codes) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t zero = op.zeros[channels[i]];
    const double least = static_cast<double>(op.lo - zero);
    const double most = static_cast<double>(op.hi - zero);
    double q = x[i] / op.scales[channels[i]];
    if (q != q) q = op.rounding == Rounding::kSign ? -1.0 : 0.0;
    q = q < least ? least : q;
    q = q > most ? most : q;
    codes[i] = static_cast<int64_t>(RoundQuotient(op.rounding, q)) + zero;
  }
}

}  // namespace

void QuantizeRange(const Quantize& op, int64_t begin, int64_t end) {
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t count = end - at < kBlock ? end - at : kBlock;
    double x[kBlock];
    int64_t channels[kBlock];
    if (op.x_type == FloatType::kF32) {
      Gather(op.shape, static_cast<const float*>(op.x), at, count, x, channels);
    } else {
      Gather(op.shape, static_cast<const double*>(op.x), at, count, x,
             channels);
    }
    int64_t codes[kBlock];
    if (op.rounding == Rounding::kHalfEven) {
      QuantizeHalfEven(op, x, channels, count, codes);
    } else {
      QuantizeBlock(op, x, channels, count, codes);
    }
    StoreCodes(op.out_type, op.out, at, count, codes);
  }
}

void DequantizeRange(const Dequantize& op, int64_t begin, int64_t end) {
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t count = end - at < kBlock ? end - at : kBlock;
    int64_t codes[kBlock];
    int64_t channels[kBlock];
    GatherCodes(op, at, count, codes, channels);
    double y[kBlock];
    for (int64_t i = 0; i < count; ++i) {
      const int64_t c = channels[i];
      y[i] = static_cast<double>(codes[i] - op.zeros[c]) * op.scales[c] +
             (op.offsets != nullptr ? op.offsets[c] : 0.0);
    }
    if (op.out_type == FloatType::kF32) {
      float* to = static_cast<float*>(op.out) + at;
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(y[i]);
    } else {
      double* to = static_cast<double*>(op.out) + at;
      for (int64_t i = 0; i < count; ++i) to[i] = y[i];
    }
  }
}

}  // namespace fold::kernels
