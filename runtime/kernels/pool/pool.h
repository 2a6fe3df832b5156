// Windows and reductions over integers, channels last.
#ifndef RUNTIME_KERNELS_POOL_POOL_H_
#define RUNTIME_KERNELS_POOL_POOL_H_

#include <cstdint>

#include "runtime/numerics/code_type.h"
#include "runtime/numerics/requantize.h"
#include "runtime/numerics/strided_shape.h"
#include "runtime/numerics/window.h"

namespace fold::kernels {

// Output row out_y of one image: [out_width][channels] codes of `type` at
// `out`, each the largest code of its window inside the image, or the lowest
// code of the type where the window has nothing inside.
void MaxPoolRow(const Window& window, CodeType type, const void* image,
                int64_t out_y, int64_t out_width, void* out);
void MaxPoolRowReference(const Window& window, CodeType type, const void* image,
                         int64_t out_y, int64_t out_width, void* out);

// Output row out_y: requant of the sum (modulo 2^32) of x - x_zero over the
// window's part inside the image. The constants' index is
// first_class + column_classes[j] for output column j; column_classes may be
// null for zeros.
struct AveragePoolRow {
  Window window;
  CodeType type = CodeType::kS8;
  const void* image = nullptr;
  int64_t x_zero = 0;
  int64_t out_y = 0;
  int64_t out_width = 0;
  int64_t first_class = 0;
  const int32_t* column_classes = nullptr;
  Requantizer requant;
  void* out = nullptr;  // [out_width][channels] of requant.output
};
// `rows` requantizes: one of runtime/kernels/requantize.
void AveragePool(const AveragePoolRow& op, RequantizeRowsFn rows);
void AveragePoolReference(const AveragePoolRow& op);

// Sums (modulo 2^32) of x - x_zero over some dimensions, requantized as
// channel 0. `kept` walks the result with a_strides through the input;
// `reduced` walks what is summed with a_strides through the input. Computes
// results [begin, end).
struct ReduceSum {
  StridedShape kept;
  StridedShape reduced;
  CodeType type = CodeType::kS8;
  const void* x = nullptr;
  int64_t x_zero = 0;
  Requantizer requant;
  void* out = nullptr;
};
void ReduceSumRange(const ReduceSum& op, int64_t begin, int64_t end);
void ReduceSumRangeReference(const ReduceSum& op, int64_t begin, int64_t end);

}  // namespace fold::kernels

#endif  // RUNTIME_KERNELS_POOL_POOL_H_
