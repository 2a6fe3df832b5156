// Algebra of shapes, for the reader that checks an artifact and the executor
// that runs it.
#ifndef RUNTIME_FORMAT_SHAPE_H_
#define RUNTIME_FORMAT_SHAPE_H_

#include <cstdint>

namespace fold::format {

constexpr int kMaxDimensions = 8;
// A dimension and a tensor's elements stay below these, so that no index
// computation of the runtime can overflow 64 bits.
constexpr int64_t kMaxDimension = INT32_MAX;
constexpr int64_t kMaxElements = int64_t{1} << 40;

struct Shape {
  int rank = 0;
  int64_t dims[kMaxDimensions] = {};

  int64_t Elements() const {
    int64_t elements = 1;
    for (int d = 0; d < rank; ++d) elements *= dims[d];
    return elements;
  }
};

bool operator==(const Shape& a, const Shape& b);

// Equal once dimensions of 1 are left out: the same elements in the same order.
bool SameIgnoringOnes(const Shape& a, const Shape& b);

// Whether permutation[0 .. rank) holds each of 0 .. rank - 1 once.
bool IsPermutation(const int32_t* permutation, int rank);

// Dimension i of the result is dimension permutation[i] of `shape`; null:
// `shape` itself.
Shape Permuted(const Shape& shape, const int32_t* permutation);

// Row-major strides in elements.
void RowMajorStrides(const Shape& shape, int64_t* strides);

// Strides with which `operand` is read while `result` is walked, 0 along
// broadcast dimensions (numpy's rule). False if it does not broadcast.
bool BroadcastStrides(const Shape& operand, const Shape& result,
                      int64_t* strides);

// numpy.matmul: for each batch, [rows, depth] x [depth, columns]. Batches are
// walked row-major with these strides in elements.
struct MatmulShape {
  Shape batch;
  int64_t a_batch[kMaxDimensions] = {};
  int64_t b_batch[kMaxDimensions] = {};
  int64_t rows = 1;
  int64_t depth = 1;
  int64_t columns = 1;
};
// False if a, b and result do not fit together.
bool ResolveMatmul(const Shape& a, const Shape& b, const Shape& result,
                   MatmulShape* resolved);

// A channels-last image: rank 4 is N,H,W,C; rank 3 is N,W,C with H = 1. Or with
// `channels_first`, N,C,H,W and N,C,W.
struct ImageShape {
  int64_t batch = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t channels = 1;
};
bool ResolveImage(const Shape& shape, bool channels_first, ImageShape* image);

}  // namespace fold::format

#endif  // RUNTIME_FORMAT_SHAPE_H_
