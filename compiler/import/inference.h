// The onnx library's checker and shape inference, with its exceptions turned
// into diagnostics.
#ifndef FOLD_COMPILER_IMPORT_INFERENCE_H_
#define FOLD_COMPILER_IMPORT_INFERENCE_H_

#include <string>
#include <unordered_map>

#include "compiler/base/diagnostic.h"
#include "compiler/import/model_reader.h"
#include "compiler/ir/type.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// Element type and shape of every input, initializer and result, by name.
using ValueTypes = std::unordered_map<std::string, TensorType>;

// Arity, attributes and types of operators by their schemas. Requires external
// data to be loaded, and the checks of graph_checks.h and operator_checks.h.
// Adds model_invalid.
bool CheckWithOnnx(const onnx::ModelProto& model, const OpsetVersions& versions,
                   Diagnostics* sink);

// Infers the types of all values from inputs and initializers alone; those
// that the file declares are used where inference finds nothing, and checked
// where it does. Requires CheckWithOnnx. `model` is left with the inferred
// types in it. Adds model_invalid, shape_mismatch, dynamic_shape (a dimension
// that is still not known), unsupported_type or model_too_large.
bool InferTypes(const ImportLimits& limits, onnx::ModelProto* model,
                ValueTypes* types, Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_INFERENCE_H_
