#include "runtime/format/shape.h"

namespace fold::format {

bool operator==(const Shape& a, const Shape& b) {
  if (a.rank != b.rank) return false;
  for (int d = 0; d < a.rank; ++d) {
    if (a.dims[d] != b.dims[d]) return false;
  }
  return true;
}

namespace {

Shape WithoutOnes(const Shape& shape) {
  Shape rest;
  for (int d = 0; d < shape.rank; ++d) {
    if (shape.dims[d] != 1) rest.dims[rest.rank++] = shape.dims[d];
  }
  return rest;
}

}  // namespace

bool SameIgnoringOnes(const Shape& a, const Shape& b) {
  return WithoutOnes(a) == WithoutOnes(b);
}

bool IsPermutation(const int32_t* permutation, int rank) {
  unsigned seen = 0;
  for (int i = 0; i < rank; ++i) {
    const int32_t p = permutation[i];
    if (p < 0 || p >= rank || ((seen >> p) & 1u) != 0) return false;
    seen |= 1u << p;
  }
  return true;
}

Shape Permuted(const Shape& shape, const int32_t* permutation) {
  if (permutation == nullptr) return shape;
  Shape result;
  result.rank = shape.rank;
  for (int i = 0; i < shape.rank; ++i) {
    result.dims[i] = shape.dims[permutation[i]];
  }
  return result;
}

void RowMajorStrides(const Shape& shape, int64_t* strides) {
  int64_t stride = 1;
  for (int d = shape.rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape.dims[d];
  }
}

bool BroadcastStrides(const Shape& operand, const Shape& result,
                      int64_t* strides) {
  if (operand.rank > result.rank) return false;
  int64_t own[kMaxDimensions];
  RowMajorStrides(operand, own);
  const int missing = result.rank - operand.rank;
  for (int d = 0; d < result.rank; ++d) {
    if (d < missing || operand.dims[d - missing] == 1) {
      strides[d] = 0;
    } else if (operand.dims[d - missing] == result.dims[d]) {
      strides[d] = own[d - missing];
    } else {
      return false;
    }
  }
  return true;
}

namespace {

// The dimensions in front of the last `matrix` ones.
Shape BatchOf(const Shape& shape, int matrix) {
  Shape batch;
  batch.rank = shape.rank > matrix ? shape.rank - matrix : 0;
  for (int d = 0; d < batch.rank; ++d) batch.dims[d] = shape.dims[d];
  return batch;
}

// numpy's broadcast of two shapes; false if there is none.
bool Broadcast(const Shape& a, const Shape& b, Shape* result) {
  result->rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 1; i <= result->rank; ++i) {
    const int64_t x = i <= a.rank ? a.dims[a.rank - i] : 1;
    const int64_t y = i <= b.rank ? b.dims[b.rank - i] : 1;
    if (x != y && x != 1 && y != 1) return false;
    result->dims[result->rank - i] = x == 1 ? y : x;
  }
  return true;
}

void ScaleStrides(int rank, int64_t factor, int64_t* strides) {
  for (int d = 0; d < rank; ++d) strides[d] *= factor;
}

}  // namespace

bool ResolveMatmul(const Shape& a, const Shape& b, const Shape& result,
                   MatmulShape* resolved) {
  if (a.rank == 0 || b.rank == 0) return false;
  resolved->rows = a.rank > 1 ? a.dims[a.rank - 2] : 1;
  resolved->depth = a.dims[a.rank - 1];
  resolved->columns = b.rank > 1 ? b.dims[b.rank - 1] : 1;
  const int64_t b_depth = b.rank > 1 ? b.dims[b.rank - 2] : b.dims[0];
  if (b_depth != resolved->depth) return false;
  const Shape a_batch = BatchOf(a, 2);
  const Shape b_batch = BatchOf(b, 2);
  if (!Broadcast(a_batch, b_batch, &resolved->batch)) return false;
  Shape expected = resolved->batch;
  const int extra = (a.rank > 1 ? 1 : 0) + (b.rank > 1 ? 1 : 0);
  if (expected.rank + extra > kMaxDimensions) return false;
  if (a.rank > 1) expected.dims[expected.rank++] = resolved->rows;
  if (b.rank > 1) expected.dims[expected.rank++] = resolved->columns;
  if (!(expected == result)) return false;
  BroadcastStrides(a_batch, resolved->batch, resolved->a_batch);
  BroadcastStrides(b_batch, resolved->batch, resolved->b_batch);
  ScaleStrides(resolved->batch.rank, resolved->rows * resolved->depth,
               resolved->a_batch);
  ScaleStrides(resolved->batch.rank, resolved->depth * resolved->columns,
               resolved->b_batch);
  return true;
}

bool ResolveImage(const Shape& shape, bool channels_first, ImageShape* image) {
  if (shape.rank != 3 && shape.rank != 4) return false;
  const int last = shape.rank - 1;
  const int first_spatial = channels_first ? 2 : 1;
  image->batch = shape.dims[0];
  image->channels = channels_first ? shape.dims[1] : shape.dims[last];
  image->height = shape.rank == 4 ? shape.dims[first_spatial] : 1;
  image->width = shape.dims[first_spatial + shape.rank - 3];
  return true;
}

}  // namespace fold::format
