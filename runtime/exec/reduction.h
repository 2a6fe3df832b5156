// A tensor split into the dimensions that a reduction keeps and those that it
// sums over, each with its strides through the tensor.
#ifndef RUNTIME_EXEC_REDUCTION_H_
#define RUNTIME_EXEC_REDUCTION_H_

#include "runtime/exec/execution.h"

namespace fold::exec {

struct Reduction {
  StridedShape kept;
  StridedShape reduced;
};

inline Reduction SplitReduction(const format::Shape& x,
                                format::Span<int32_t> axes) {
  int64_t strides[format::kMaxDimensions];
  format::RowMajorStrides(x, strides);
  format::Shape kept = x;
  format::Shape reduced = x;
  for (int d = 0; d < x.rank; ++d) reduced.dims[d] = 1;
  for (int64_t i = 0; i < axes.size; ++i) {
    reduced.dims[axes.data[i]] = x.dims[axes.data[i]];
    kept.dims[axes.data[i]] = 1;
  }
  return {Strided(kept, strides, nullptr), Strided(reduced, strides, nullptr)};
}

}  // namespace fold::exec

#endif  // RUNTIME_EXEC_REDUCTION_H_
