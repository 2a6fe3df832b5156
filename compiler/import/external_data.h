// Tensor data outside the model file.
#ifndef FOLD_COMPILER_IMPORT_EXTERNAL_DATA_H_
#define FOLD_COMPILER_IMPORT_EXTERNAL_DATA_H_

#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/import/onnx_importer.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// If the data of `tensor` (checked by CheckTensor) is external, copies it into
// the message as raw data, so that nobody after this looks for files. Only a
// plain name that `options` knows as handed in beside the model is read:
// absolute paths, folders and ".." are refused by form, links cannot be
// followed because nothing is opened. Adds external_data on failure.
bool LoadExternalData(onnx::TensorProto* tensor, const std::string& name,
                      const ImportOptions& options, Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_EXTERNAL_DATA_H_
