// Element types, shapes, constant tensors and tensor types.
#ifndef FOLD_COMPILER_IR_TYPE_H_
#define FOLD_COMPILER_IR_TYPE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/encoding.h"

namespace fold {

enum class ElementType : uint8_t {
  undefined,
  f16,
  bf16,
  f32,
  f64,
  i4,
  u4,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  boolean,
};

// "f32", "i8", …; "undefined" for kUndefined.
std::string_view ElementTypeName(ElementType type);
std::optional<ElementType> ParseElementType(std::string_view name);
// Bytes of one element as Tensor stores it: 4-bit types take one byte, `real`
// and undefined have none (0).
int ElementSize(ElementType type);
bool IsInteger(ElementType type);  // i4 … u64, not boolean
bool IsFloat(ElementType type);    // f16, bf16, f32, f64
// Lowest and highest code of an integer type of at most 32 bits.
int64_t LowestCode(ElementType type);
int64_t HighestCode(ElementType type);

using Shape = std::vector<int64_t>;
// Product of the dimensions; 1 for a scalar. Shapes in a graph are checked at
// import to be non-negative and not to overflow.
int64_t ElementCount(const Shape& shape);

// An immutable constant: row-major elements, little-endian, unpacked.
struct Tensor {
  ElementType type = ElementType::undefined;
  Shape shape;
  std::vector<uint8_t> bytes;  // ElementCount(shape) * ElementSize(type)

  int64_t size() const { return ElementCount(shape); }
  // Element i as a double (exact for all float types and integers up to 53
  // bits) or as an integer (integer and boolean types only).
  double real(int64_t i) const;
  int64_t integer(int64_t i) const;
  friend bool operator==(const Tensor&, const Tensor&) = default;
};
using TensorPtr = std::shared_ptr<const Tensor>;

// Builds a tensor of `type` from integers (integer and boolean types) or from
// doubles (float types; each is rounded to the type).
TensorPtr MakeIntegerTensor(ElementType type, Shape shape,
                            const std::vector<int64_t>& values);
TensorPtr MakeRealTensor(ElementType type, Shape shape,
                         const std::vector<double>& values);

// The numbers that the codes of `tensor` stand for, row-major. The product of a
// difference of 16-bit codes and a float32 scale is exact in a double. Not for
// blocked encodings.
std::vector<double> RealNumbersOf(const Tensor& tensor,
                                  const Encoding& encoding);

// What a value is: element type, shape, and its quantization if it has one.
struct TensorType {
  ElementType element = ElementType::undefined;
  Shape shape;
  std::optional<Encoding> encoding;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

}  // namespace fold

#endif  // FOLD_COMPILER_IR_TYPE_H_
