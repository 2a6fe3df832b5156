// ONNX's element types and dimensions as the graph's.
#ifndef FOLD_COMPILER_IMPORT_ELEMENT_TYPES_H_
#define FOLD_COMPILER_IMPORT_ELEMENT_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/import/onnx_importer.h"
#include "compiler/ir/type.h"

namespace fold::importer {

// `data_type` is a TensorProto.DataType. undefined for those that the graph
// does not have (strings, complex, float8, float4, 2-bit …).
ElementType FromOnnxType(int data_type);

// "float8e4m3fn", "string", …; "type 99" for a number that ONNX does not know.
std::string OnnxTypeName(int data_type);

// Bytes of a tensor as the graph stores it. nullopt if a dimension is negative
// or the number of elements or bytes overflows int64.
std::optional<int64_t> ByteCount(ElementType type, const Shape& shape);

// Rank, signs and size of a value named `name` within the limits, else adds
// model_invalid (a negative dimension) or model_too_large.
bool CheckShape(const std::string& name, ElementType type, const Shape& shape,
                const ImportLimits& limits, Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_ELEMENT_TYPES_H_
