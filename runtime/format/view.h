// Plain views of an artifact's tables: vectors as pointer and size (null and 0
// where absent), shapes, properties of element types.
#ifndef RUNTIME_FORMAT_VIEW_H_
#define RUNTIME_FORMAT_VIEW_H_

#include <cstdint>

#include "runtime/format/fold_generated.h"
#include "runtime/format/shape.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "artifacts are read in place: little-endian machines only"
#endif

namespace fold::format {

template <typename T>
struct Span {
  const T* data = nullptr;
  int64_t size = 0;
};

template <typename T>
Span<T> View(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr || vector->size() == 0) return {};
  return {reinterpret_cast<const T*>(vector->Data()),
          static_cast<int64_t>(vector->size())};
}

// FlatBuffers' verifier looks at the alignment of a vector's size, not at that
// of its elements: a hostile file can have 8-byte numbers on odd multiples
// of 4.
template <typename T>
bool IsAligned(Span<T> span) {
  return reinterpret_cast<uintptr_t>(span.data) % sizeof(T) == 0;
}

// 0 for a number that is no element type.
constexpr int64_t ElementBytes(ElementType type) {
  switch (type) {
    case ElementType::U8:
    case ElementType::S8:
    case ElementType::BOOL:
      return 1;
    case ElementType::U16:
    case ElementType::S16:
    case ElementType::F16:
    case ElementType::BF16:
      return 2;
    case ElementType::U32:
    case ElementType::S32:
    case ElementType::F32:
      return 4;
    case ElementType::U64:
    case ElementType::S64:
    case ElementType::F64:
      return 8;
  }
  return 0;
}

constexpr bool IsByteCode(ElementType type) {
  return type == ElementType::U8 || type == ElementType::S8;
}

// What integer kernels compute with.
constexpr bool IsCode(ElementType type) {
  return IsByteCode(type) || type == ElementType::U16 ||
         type == ElementType::S16 || type == ElementType::S32;
}

constexpr bool IsFloat(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64;
}

// At most kMaxDimensions are read.
inline Shape ShapeFrom(Span<int64_t> dims) {
  Shape shape;
  shape.rank =
      dims.size < kMaxDimensions ? static_cast<int>(dims.size) : kMaxDimensions;
  for (int d = 0; d < shape.rank; ++d) shape.dims[d] = dims.data[d];
  return shape;
}

inline Shape ShapeOf(const Tensor& tensor) {
  return ShapeFrom(View(tensor.shape()));
}

inline const char* NameOf(const flatbuffers::String* name) {
  return name != nullptr ? name->c_str() : "";
}

}  // namespace fold::format

#endif  // RUNTIME_FORMAT_VIEW_H_
