// Which of a model's nodes foldd does not read.
#ifndef FOLD_COMPILER_IMPORT_OPERATOR_CHECKS_H_
#define FOLD_COMPILER_IMPORT_OPERATOR_CHECKS_H_

#include "compiler/base/diagnostic.h"
#include "compiler/import/model_reader.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// Unsupported nodes reported one by one; a last diagnostic counts the rest.
constexpr int kMostReportedNodes = 1000;

// True if every node is an operator of ops.def in a version that onnx has,
// with attributes of kinds that the graph has. Adds an error for each node
// that is not: unsupported_operator, control_flow, dynamic_quantization,
// unsupported_attribute or model_invalid (no opset_import for the domain).
bool CheckOperators(const onnx::GraphProto& graph,
                    const OpsetVersions& versions, Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_OPERATOR_CHECKS_H_
