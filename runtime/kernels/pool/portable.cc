// Channels are the inner loop, in blocks whose results stay on the stack.
#include "runtime/kernels/pool/pool.h"

namespace fold::kernels {
namespace {

constexpr int64_t kBlock = 64;

// Visits each input position inside the window of output (out_y, out_x).
template <typename Visit>
void ForPositions(const Window& w, int64_t out_y, int64_t out_x, Visit visit) {
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

template <typename Code>
void MaxRow(const Window& w, const Code* image, int64_t out_y,
            int64_t out_width, Code lowest, Code* out) {
  for (int64_t x = 0; x < out_width; ++x) {
    Code* to = out + x * w.channels;
    for (int64_t c = 0; c < w.channels; ++c) to[c] = lowest;
    ForPositions(w, out_y, x, [&](int64_t position) {
      const Code* from = image + position * w.channels;
      for (int64_t c = 0; c < w.channels; ++c) {
        to[c] = from[c] > to[c] ? from[c] : to[c];
      }
    });
  }
}

template <typename Code>
void SumBlock(const void* base, int64_t first, int64_t stride, int64_t count,
              int64_t x_zero, uint32_t* sums) {
  const Code* from = static_cast<const Code*>(base) + first;
  const uint32_t zero = static_cast<uint32_t>(x_zero);
  for (int64_t c = 0; c < count; ++c) {
    sums[c] += static_cast<uint32_t>(from[c * stride]) - zero;
  }
}

void AddBlock(CodeType type, const void* base, int64_t first, int64_t stride,
              int64_t count, int64_t x_zero, uint32_t* sums) {
  switch (type) {
    case CodeType::kU8:
      return SumBlock<uint8_t>(base, first, stride, count, x_zero, sums);
    case CodeType::kS8:
      return SumBlock<int8_t>(base, first, stride, count, x_zero, sums);
    case CodeType::kU16:
      return SumBlock<uint16_t>(base, first, stride, count, x_zero, sums);
    case CodeType::kS16:
      return SumBlock<int16_t>(base, first, stride, count, x_zero, sums);
    default:
      return SumBlock<uint32_t>(base, first, stride, count, x_zero, sums);
  }
}

// The requantizer of one class, for every channel.
Requantizer ForClass(Requantizer r, int64_t index) {
  if (!r.per_channel) return r;
  r.per_channel = false;
  if (r.multipliers != nullptr) r.multipliers += index;
  if (r.addends != nullptr) r.addends += index;
  if (r.addends_high != nullptr) r.addends_high += index;
  if (r.shifts != nullptr) r.shifts += index;
  if (r.divisors != nullptr) r.divisors += index;
  if (r.thresholds != nullptr) r.thresholds += index * r.threshold_count;
  if (r.first_codes != nullptr) r.first_codes += index;
  if (r.decreasing != nullptr) r.decreasing += index;
  return r;
}

}  // namespace

void MaxPoolRow(const Window& window, CodeType type, const void* image,
                int64_t out_y, int64_t out_width, void* out) {
  switch (type) {
    case CodeType::kU8:
      return MaxRow<uint8_t>(window, static_cast<const uint8_t*>(image), out_y,
                             out_width, 0, static_cast<uint8_t*>(out));
    case CodeType::kS8:
      return MaxRow<int8_t>(window, static_cast<const int8_t*>(image), out_y,
                            out_width, INT8_MIN, static_cast<int8_t*>(out));
    case CodeType::kU16:
      return MaxRow<uint16_t>(window, static_cast<const uint16_t*>(image),
                              out_y, out_width, 0, static_cast<uint16_t*>(out));
    case CodeType::kS16:
      return MaxRow<int16_t>(window, static_cast<const int16_t*>(image), out_y,
                             out_width, INT16_MIN, static_cast<int16_t*>(out));
    case CodeType::kU32:
      return MaxRow<uint32_t>(window, static_cast<const uint32_t*>(image),
                              out_y, out_width, 0, static_cast<uint32_t*>(out));
    case CodeType::kS32:
      return MaxRow<int32_t>(window, static_cast<const int32_t*>(image), out_y,
                             out_width, INT32_MIN, static_cast<int32_t*>(out));
  }
}

void AveragePool(const AveragePoolRow& op, RequantizeRowsFn rows) {
  const int64_t channels = op.window.channels;
  const int64_t out_bytes = CodeBytes(op.requant.output);
  for (int64_t x = 0; x < op.out_width; ++x) {
    const int64_t index =
        op.first_class +
        (op.column_classes != nullptr ? op.column_classes[x] : 0);
    const Requantizer requant = ForClass(op.requant, index);
    for (int64_t c = 0; c < channels; c += kBlock) {
      const int64_t count = channels - c < kBlock ? channels - c : kBlock;
      uint32_t sums[kBlock] = {};
      ForPositions(op.window, op.out_y, x, [&](int64_t position) {
        AddBlock(op.type, op.image, position * channels + c, 1, count,
                 op.x_zero, sums);
      });
      rows(requant, reinterpret_cast<const int32_t*>(sums), 1, count, count, 0,
           static_cast<uint8_t*>(op.out) + (x * channels + c) * out_bytes,
           count);
    }
  }
}

void ReduceSumRange(const ReduceSum& op, int64_t begin, int64_t end) {
  const int64_t stride = op.kept.a_strides[op.kept.rank - 1];
  const int last = op.reduced.rank - 1;
  WalkRuns(op.kept, begin, end, kBlock, [&](const Run& run) {
    uint32_t sums[kBlock] = {};
    WalkRuns(op.reduced, 0, op.reduced.Elements(), INT64_MAX,
             [&](const Run& part) {
               for (int64_t j = 0; j < part.count; ++j) {
                 AddBlock(op.type, op.x,
                          run.a + part.a + j * op.reduced.a_strides[last],
                          stride, run.count, op.x_zero, sums);
               }
             });
    int64_t codes[kBlock];
    for (int64_t i = 0; i < run.count; ++i) {
      codes[i] = Requantize(op.requant, static_cast<int32_t>(sums[i]), 0);
    }
    StoreCodes(op.requant.output, op.out, run.start, run.count, codes);
  });
}

}  // namespace fold::kernels
