#include "runtime/kernels/move/move.h"

namespace fold::kernels {

void MoveReference(const MoveBox& op) {
  for (int64_t i = 0; i < op.box.Elements(); ++i) {
    int64_t rest = i;
    int64_t from = 0;
    int64_t to = 0;
    for (int d = op.box.rank - 1; d >= 0; --d) {
      from += rest % op.box.dims[d] * op.box.a_strides[d];
      to += rest % op.box.dims[d] * op.box.b_strides[d];
      rest /= op.box.dims[d];
    }
    for (int64_t k = 0; k < op.element_bytes; ++k) {
      static_cast<uint8_t*>(op.out)[to * op.element_bytes + k] =
          static_cast<const uint8_t*>(op.x)[from * op.element_bytes + k];
    }
  }
}

}  // namespace fold::kernels
