// TensorProto to Tensor: what a tensor claims is checked before anything is
// allocated for it.
#ifndef FOLD_COMPILER_IMPORT_TENSOR_READER_H_
#define FOLD_COMPILER_IMPORT_TENSOR_READER_H_

#include <cstdint>
#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/import/onnx_importer.h"
#include "compiler/ir/type.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// True if the tensor has an element type of the graph's, a shape within the
// limits, and its data in one place of exactly the size that type and shape
// say. Data in an external file is not looked at. `name` is for diagnostics:
// unsupported_type, model_invalid or model_too_large.
bool CheckTensor(const onnx::TensorProto& tensor, const std::string& name,
                 const ImportLimits& limits, Diagnostics* sink);

// Bytes that a checked tensor takes in the file as raw data (4-bit elements
// two to a byte) and in the graph.
int64_t RawByteCount(const onnx::TensorProto& tensor);
int64_t UnpackedByteCount(const onnx::TensorProto& tensor);

// The tensor, whose data is in the message. Requires CheckTensor. Returns null
// and adds model_invalid if a number does not fit the element type.
TensorPtr ReadTensor(const onnx::TensorProto& tensor, const std::string& name,
                     Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_TENSOR_READER_H_
