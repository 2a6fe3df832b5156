// Walks a row-major result while two other arrays are stepped through with
// strides of their own: broadcasting, permutations and the index of a channel
// are all strides.
#ifndef RUNTIME_NUMERICS_STRIDED_SHAPE_H_
#define RUNTIME_NUMERICS_STRIDED_SHAPE_H_

#include <cstdint>

namespace fold {

constexpr int kMaxRank = 8;

// `rank` from 1; every dimension at least 1. Element (i0, i1, …) of the result
// goes with element sum(i * a_strides[i]) of a, and with b likewise.
struct StridedShape {
  int rank = 1;
  int64_t dims[kMaxRank] = {1};
  int64_t a_strides[kMaxRank] = {0};
  int64_t b_strides[kMaxRank] = {0};

  int64_t Elements() const {
    int64_t elements = 1;
    for (int d = 0; d < rank; ++d) elements *= dims[d];
    return elements;
  }
};

// A run along the last dimension: results start … start + count - 1, a from
// element `a` in steps of the last a stride, b likewise.
struct Run {
  int64_t start;
  int64_t count;
  int64_t a;
  int64_t b;
};

// Calls run(Run) for the results [begin, end) in order, at most `most` of them
// at a time.
template <typename Callback>
void WalkRuns(const StridedShape& shape, int64_t begin, int64_t end,
              int64_t most, Callback run) {
  const int last = shape.rank - 1;
  int64_t index[kMaxRank];
  int64_t rest = begin;
  int64_t a = 0;
  int64_t b = 0;
  for (int d = last; d >= 0; --d) {
    index[d] = rest % shape.dims[d];
    rest /= shape.dims[d];
    a += index[d] * shape.a_strides[d];
    b += index[d] * shape.b_strides[d];
  }
  while (begin < end) {
    int64_t count = shape.dims[last] - index[last];
    if (count > most) count = most;
    if (count > end - begin) count = end - begin;
    run(Run{begin, count, a, b});
    begin += count;
    index[last] += count;
    a += count * shape.a_strides[last];
    b += count * shape.b_strides[last];
    for (int d = last; d > 0 && index[d] == shape.dims[d]; --d) {
      a += shape.a_strides[d - 1] - index[d] * shape.a_strides[d];
      b += shape.b_strides[d - 1] - index[d] * shape.b_strides[d];
      index[d] = 0;
      ++index[d - 1];
    }
  }
}

}  // namespace fold

#endif  // RUNTIME_NUMERICS_STRIDED_SHAPE_H_
