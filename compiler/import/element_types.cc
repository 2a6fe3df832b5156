#include "compiler/import/element_types.h"

#include <algorithm>

#include "compiler/import/labels.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {
namespace {

using onnx::TensorProto;

struct TypeRow {
  int onnx;
  ElementType ours;
};
constexpr TypeRow kTypes[] = {
    {TensorProto::FLOAT, ElementType::f32},
    {TensorProto::DOUBLE, ElementType::f64},
    {TensorProto::FLOAT16, ElementType::f16},
    {TensorProto::BFLOAT16, ElementType::bf16},
    {TensorProto::INT4, ElementType::i4},
    {TensorProto::UINT4, ElementType::u4},
    {TensorProto::INT8, ElementType::i8},
    {TensorProto::UINT8, ElementType::u8},
    {TensorProto::INT16, ElementType::i16},
    {TensorProto::UINT16, ElementType::u16},
    {TensorProto::INT32, ElementType::i32},
    {TensorProto::UINT32, ElementType::u32},
    {TensorProto::INT64, ElementType::i64},
    {TensorProto::UINT64, ElementType::u64},
    {TensorProto::BOOL, ElementType::boolean},
};

std::string ShapeText(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ",";
    if (i == 16) return text + "...]";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace

ElementType FromOnnxType(int data_type) {
  for (const TypeRow& row : kTypes) {
    if (row.onnx == data_type) return row.ours;
  }
  return ElementType::undefined;
}

std::string OnnxTypeName(int data_type) {
  if (!onnx::TensorProto_DataType_IsValid(data_type)) {
    return "type " + std::to_string(data_type);
  }
  std::string name = onnx::TensorProto_DataType_Name(
      static_cast<onnx::TensorProto_DataType>(data_type));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name;
}

std::optional<int64_t> ByteCount(ElementType type, const Shape& shape) {
  int64_t bytes = ElementSize(type);
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    empty = empty || dim == 0;
    // A zero elsewhere does not excuse dimensions whose product overflows.
    if (dim > 0 && __builtin_mul_overflow(bytes, dim, &bytes)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : bytes;
}

bool CheckShape(const std::string& name, ElementType type, const Shape& shape,
                const ImportLimits& limits, Diagnostics* sink) {
  const std::string node = Readable(name);
  if (static_cast<int64_t>(shape.size()) > limits.max_rank) {
    return sink->Add(DiagnosticCode::model_too_large, node,
                     "rank " + std::to_string(shape.size()) +
                         "; the limit is " + std::to_string(limits.max_rank));
  }
  if (std::any_of(shape.begin(), shape.end(), [](auto d) { return d < 0; })) {
    return sink->Add(DiagnosticCode::model_invalid, node,
                     "a dimension is negative: " + ShapeText(shape));
  }
  const std::optional<int64_t> bytes = ByteCount(type, shape);
  if (!bytes || *bytes > limits.max_value_bytes) {
    return sink->Add(DiagnosticCode::model_too_large, node,
                     "shape " + ShapeText(shape) +
                         (bytes ? " takes " + std::to_string(*bytes) +
                                      " bytes; the limit is " +
                                      std::to_string(limits.max_value_bytes)
                                : std::string(" overflows")));
  }
  return true;
}

}  // namespace fold::importer
