// Schemas of the operators outside of ai.onnx that ops.def names, so that the
// onnx library checks them and infers their results like its own. Operands and
// attributes are those that ONNX Runtime documents for version 1 of
// com.microsoft, and QONNX for versions 1 and 2 of its domain.
#ifndef FOLD_COMPILER_IMPORT_CONTRIB_SCHEMAS_H_
#define FOLD_COMPILER_IMPORT_CONTRIB_SCHEMAS_H_

#include <vector>

#include "onnx/defs/schema.h"

namespace fold::importer {

// Finished schemas, in alphabetical order.
std::vector<onnx::OpSchema> MicrosoftSchemas();
// In the domain kQonnxDomain.
std::vector<onnx::OpSchema> QonnxSchemas();

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_CONTRIB_SCHEMAS_H_
