// Elements of 1, 2, 4 or 8 bytes from one array to another, by strides: what
// Transpose, Concat, Pad and Slice come down to.
#ifndef RUNTIME_KERNELS_MOVE_MOVE_H_
#define RUNTIME_KERNELS_MOVE_MOVE_H_

#include <cstdint>

#include "runtime/numerics/strided_shape.h"

namespace fold::kernels {

// Element (i0, i1, …) of a box: out[sum(i * b_strides)] = x[sum(i *
// a_strides)]. `x` and `out` point at the elements of index (0, 0, …). Strides
// may be negative or 0; x and out do not overlap.
struct MoveBox {
  StridedShape box;
  int64_t element_bytes = 1;
  const void* x = nullptr;
  void* out = nullptr;
};
void Move(const MoveBox& op);
void MoveReference(const MoveBox& op);

// Fills `count` elements with the low bytes of `bits` (little-endian).
void Fill(int64_t element_bytes, uint64_t bits, int64_t count, void* out);

}  // namespace fold::kernels

#endif  // RUNTIME_KERNELS_MOVE_MOVE_H_
