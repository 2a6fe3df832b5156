// Replaces calls of model-local functions by the functions' bodies.
#ifndef FOLD_COMPILER_IMPORT_INLINE_FUNCTIONS_H_
#define FOLD_COMPILER_IMPORT_INLINE_FUNCTIONS_H_

#include "compiler/base/diagnostic.h"
#include "compiler/import/onnx_importer.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// After this the model has no functions. What the expansion will cost is
// counted first. Calls of a function whose operator sets do not fit the
// model's stay, and are unsupported operators later. Adds model_invalid
// (recursion, duplicates), control_flow (a function or a caller has subgraphs)
// or model_too_large.
bool InlineFunctions(const ImportLimits& limits, onnx::ModelProto* model,
                     Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_INLINE_FUNCTIONS_H_
