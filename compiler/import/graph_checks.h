// What must hold of a model's main graph before the onnx library sees it.
#ifndef FOLD_COMPILER_IMPORT_GRAPH_CHECKS_H_
#define FOLD_COMPILER_IMPORT_GRAPH_CHECKS_H_

#include "compiler/base/diagnostic.h"
#include "compiler/import/onnx_importer.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// Names: inputs, initializers and results each once; each operand made before
// it is read; each output made. Adds model_invalid.
bool CheckNames(const onnx::GraphProto& graph, Diagnostics* sink);

// Types: dense tensors with an element type of the graph's and sizes within
// the limits, for inputs, outputs, initializers and tensor attributes; all
// constants together within their limit. Adds unsupported_type, model_invalid
// or model_too_large.
bool CheckTypes(const onnx::GraphProto& graph, const ImportLimits& limits,
                Diagnostics* sink);

// Takes the inputs that are initializers too out of graph.input: their value
// is known. Adds model_invalid if an input's type contradicts its initializer.
bool RemoveInitializedInputs(onnx::GraphProto* graph, Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_GRAPH_CHECKS_H_
