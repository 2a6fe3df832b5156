#include "runtime/kernels/requantize/requantize_rows.h"

namespace fold::kernels {

void RequantizeRowsReference(const Requantizer& r, const int32_t* acc,
                             int64_t rows, int64_t columns, int64_t acc_stride,
                             int64_t first_channel, void* out,
                             int64_t out_stride) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const int64_t code =
          Requantize(r, acc[i * acc_stride + j], first_channel + j);
      StoreCode(r.output, out, i * out_stride + j, code);
    }
  }
}

}  // namespace fold::kernels
