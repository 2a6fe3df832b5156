// --shape: gives the open dimensions of a model's inputs their values.
#ifndef FOLD_COMPILER_IMPORT_SHAPE_BINDING_H_
#define FOLD_COMPILER_IMPORT_SHAPE_BINDING_H_

#include <string>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/type.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// Writes `shapes` into the graph's inputs and every dimension of the same name
// into inputs, outputs and value_info. Requires initializers not to be among
// the inputs. Adds bad_shape_flag if a name is no input or given twice, a rank
// differs, a dimension is not positive, contradicts the file, or gives one
// dimension name two values; dynamic_shape if an input is still open after it.
bool BindShapes(const std::vector<std::pair<std::string, Shape>>& shapes,
                onnx::GraphProto* graph, Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_SHAPE_BINDING_H_
