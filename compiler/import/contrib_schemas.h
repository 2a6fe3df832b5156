// Schemas of the com.microsoft operators that ops.def names, so that the onnx
// library checks them and infers their results like its own. Operands and
// attributes are those that ONNX Runtime documents for version 1 of the
// domain.
#ifndef FOLD_COMPILER_IMPORT_CONTRIB_SCHEMAS_H_
#define FOLD_COMPILER_IMPORT_CONTRIB_SCHEMAS_H_

#include <vector>

#include "onnx/defs/schema.h"

namespace fold::importer {

// Finished schemas, in alphabetical order.
std::vector<onnx::OpSchema> MicrosoftSchemas();

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_CONTRIB_SCHEMAS_H_
