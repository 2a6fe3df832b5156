// The last step of the import: a checked model with known types becomes the
// graph.
#ifndef FOLD_COMPILER_IMPORT_GRAPH_BUILDER_H_
#define FOLD_COMPILER_IMPORT_GRAPH_BUILDER_H_

#include "compiler/base/diagnostic.h"
#include "compiler/import/inference.h"
#include "compiler/import/model_reader.h"
#include "compiler/ir/graph.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// Requires all checks of this folder. Tensor data is moved out of `model` as
// it is read. Adds an error if an attribute or a number cannot be read.
bool BuildGraph(const OpsetVersions& versions, const ValueTypes& types,
                onnx::ModelProto* model, Graph* graph, Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_GRAPH_BUILDER_H_
