#include "runtime/kernels/requantize/requantize_rows.h"

namespace fold::kernels {
namespace {

// The common case without a switch in the loop.
template <typename Code>
void Mul64Rows(const Requantizer& r, const int32_t* acc, int64_t rows,
               int64_t columns, int64_t acc_stride, int64_t first_channel,
               Code* out, int64_t out_stride) {
  const int64_t step = r.per_channel ? 1 : 0;
  const int64_t first = r.per_channel ? first_channel : 0;
  for (int64_t i = 0; i < rows; ++i) {
    int64_t c = first;
    for (int64_t j = 0; j < columns; ++j, c += step) {
      const int64_t t = WrapAdd(
          WrapMul(acc[i * acc_stride + j], r.multipliers[c]), r.addends[c]);
      out[i * out_stride + j] =
          static_cast<Code>(Clamp(FloorShift(t, r.shifts[c]), r.lo, r.hi));
    }
  }
}

}  // namespace

void RequantizeRowsPortable(const Requantizer& r, const int32_t* acc,
                            int64_t rows, int64_t columns, int64_t acc_stride,
                            int64_t first_channel, void* out,
                            int64_t out_stride) {
  if (r.form == RequantForm::kMul64 && CodeBytes(r.output) == 1) {
    Mul64Rows(r, acc, rows, columns, acc_stride, first_channel,
              static_cast<uint8_t*>(out), out_stride);
    return;
  }
  RequantizeRowsReference(r, acc, rows, columns, acc_stride, first_channel, out,
                          out_stride);
}

}  // namespace fold::kernels
