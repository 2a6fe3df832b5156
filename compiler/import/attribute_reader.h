// AttributeProto to Attribute.
#ifndef FOLD_COMPILER_IMPORT_ATTRIBUTE_READER_H_
#define FOLD_COMPILER_IMPORT_ATTRIBUTE_READER_H_

#include "compiler/base/diagnostic.h"
#include "compiler/import/model_reader.h"
#include "compiler/ir/graph.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// All attributes of a node that CheckOperators and CheckTypes have passed,
// under ONNX's names, and "opset" where versioned_ops.h asks for it. A
// Constant node's value_int, value_floats … become the tensor "value" that
// they stand for. Returns false and adds unsupported_type (a Constant of
// strings) or model_invalid.
bool ReadAttributes(const onnx::NodeProto& node, const OpsetVersions& versions,
                    AttributeMap* attributes, Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_ATTRIBUTE_READER_H_
