// Reads an ONNX model into a graph at stage `imported`: node for node, same
// kinds, same operand order, no algebra. Types and shapes of all values are
// inferred and checked. Meant to run in a job's own process: the file is not
// trusted, yet no input makes it throw, abort, read a file or use more than
// the limits below.
//
// What the graph keeps of the file:
//  - initializers are constants, in the file's order, used or not. An
//    initializer that is also listed as a graph input is a constant and no
//    input, whatever the file's IR version.
//  - a Constant node stays a node; its tensor is in the attribute "value",
//    whichever of the value_* attributes the file uses.
//  - attributes have ONNX's names and are there only if the file has them.
//    Nodes whose meaning changed between operator sets also carry "opset"
//    (versioned_ops.h).
//  - calls of model-local functions are replaced by the functions' bodies, an
//    If with a constant condition by its branch (inline_branches.h).
//  - an absent optional operand is an invalid ValueId; absent ones at the end
//    are left out.
//  - 4-bit elements take one byte each; f16 and bf16 stay as they are.
#ifndef FOLD_COMPILER_IMPORT_ONNX_IMPORTER_H_
#define FOLD_COMPILER_IMPORT_ONNX_IMPORTER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"

namespace fold {

struct ImportLimits {
  // The model file; protobuf itself cannot read more.
  size_t max_model_bytes = 0x7fffffff;
  // Messages and strings in the file: each costs memory of its own.
  int64_t max_items = 4'000'000;
  // Messages nested in each other; a plain graph needs six.
  int max_nesting = 64;
  int64_t max_rank = 64;
  // All constants together, unpacked, external data included.
  int64_t max_constant_bytes = int64_t{4} << 30;
  // One value.
  int64_t max_value_bytes = int64_t{64} << 30;
  // After the calls of model-local functions have been replaced.
  int64_t max_nodes = 200'000;
};

// The bytes of a file that was handed in beside the model, by its plain name;
// nullopt if there is none. The span must live until the import returns.
using ExternalFiles =
    std::function<std::optional<std::span<const uint8_t>>(std::string_view)>;

struct ImportOptions {
  // --shape NAME=1,3,8,8: the shapes of inputs whose dimensions the file
  // leaves open. Dimensions of the same name in the file are bound together.
  std::vector<std::pair<std::string, Shape>> shapes;
  // Without it a model with external data is refused.
  ExternalFiles external_files;
  ImportLimits limits;
};

// Fills `graph`, which must be empty, and returns true; or adds at least one
// error to `sink` and returns false. All unsupported nodes are reported, not
// the first alone. Graph::name is the model's graph name.
bool ImportOnnx(std::span<const uint8_t> model, const ImportOptions& options,
                Graph* graph, Diagnostics* sink);

// Builds the operator schemas now (about 10 ms), for a process that will fork.
void WarmOnnx();

}  // namespace fold

#endif  // FOLD_COMPILER_IMPORT_ONNX_IMPORTER_H_
