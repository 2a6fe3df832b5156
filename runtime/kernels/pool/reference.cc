#include "runtime/kernels/pool/pool.h"

namespace fold::kernels {
namespace {

// Visits every tap inside the image for output (out_y, out_x), channel c, with
// its element number.
template <typename Visit>
void ForInside(const Window& w, int64_t out_y, int64_t out_x, int64_t c,
               Visit visit) {
  for (int64_t r = 0; r < w.kernel_height; ++r) {
    for (int64_t q = 0; q < w.kernel_width; ++q) {
      const int64_t y = w.InputY(out_y, r);
      const int64_t x = w.InputX(out_x, q);
      if (y >= 0 && y < w.height && x >= 0 && x < w.width) {
        visit((y * w.width + x) * w.channels + c);
      }
    }
  }
}

int64_t Offset(const StridedShape& shape, int64_t i) {
  int64_t offset = 0;
  for (int d = shape.rank - 1; d >= 0; --d) {
    offset += i % shape.dims[d] * shape.a_strides[d];
    i /= shape.dims[d];
  }
  return offset;
}

}  // namespace

void MaxPoolRowReference(const Window& window, CodeType type, const void* image,
                         int64_t out_y, int64_t out_width, void* out) {
  for (int64_t x = 0; x < out_width; ++x) {
    for (int64_t c = 0; c < window.channels; ++c) {
      int64_t most = LowestCode(type);
      ForInside(window, out_y, x, c, [&](int64_t at) {
        const int64_t code = LoadCode(type, image, at);
        if (code > most) most = code;
      });
      StoreCode(type, out, x * window.channels + c, most);
    }
  }
}

void AveragePoolReference(const AveragePoolRow& op) {
  for (int64_t x = 0; x < op.out_width; ++x) {
    for (int64_t c = 0; c < op.window.channels; ++c) {
      uint32_t sum = 0;
      ForInside(op.window, op.out_y, x, c, [&](int64_t at) {
        sum +=
            static_cast<uint32_t>(LoadCode(op.type, op.image, at) - op.x_zero);
      });
      const int64_t index =
          op.first_class +
          (op.column_classes != nullptr ? op.column_classes[x] : 0);
      StoreCode(op.requant.output, op.out, x * op.window.channels + c,
                Requantize(op.requant, static_cast<int32_t>(sum), index));
    }
  }
}

void ReduceSumRangeReference(const ReduceSum& op, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    uint32_t sum = 0;
    for (int64_t j = 0; j < op.reduced.Elements(); ++j) {
      const int64_t at = Offset(op.kept, i) + Offset(op.reduced, j);
      sum += static_cast<uint32_t>(LoadCode(op.type, op.x, at) - op.x_zero);
    }
    StoreCode(op.requant.output, op.out, i,
              Requantize(op.requant, static_cast<int32_t>(sum), 0));
  }
}

}  // namespace fold::kernels
