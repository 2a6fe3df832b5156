// The values of conditions, over a flat list of nodes that grows.
#ifndef FOLD_COMPILER_IMPORT_BRANCH_CONDITIONS_H_
#define FOLD_COMPILER_IMPORT_BRANCH_CONDITIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/import/inference.h"
#include "compiler/import/onnx_importer.h"
#include "compiler/ir/type.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// Types of all values of a model without subgraphs, whose inputs may have
// dimensions that --shape gives. Adds errors and returns false if they cannot
// be had.
using TypeFinder =
    std::function<bool(onnx::ModelProto* model, ValueTypes*, Diagnostics*)>;

class BranchConditions {
 public:
  // Of `model`'s main graph the inputs and initializers count; of its nodes
  // only those that are added. All must outlive this object.
  BranchConditions(const ImportLimits& limits, const TypeFinder& find_types,
                   const onnx::ModelProto& model);

  // An initializer that the main graph has got since.
  void AddInitializer(const onnx::TensorProto& tensor);
  // The next node of the flat list; its operands were made before.
  void AddNode(onnx::NodeProto node);
  const std::vector<onnx::NodeProto>& nodes() const { return nodes_; }

  // The value named `name`; null if it is not constant. If that hangs on a
  // shape that is still open, adds dynamic_shape or bad_shape_flag.
  TensorPtr ValueOf(const std::string& name, Diagnostics* sink);

 private:
  using Names = std::vector<std::string>;

  // Places of the nodes that make `names`, in order: all that lead to them,
  // but for values that are known(). Where `past_shapes` is false nothing that
  // leads to the operand of a Shape or Size.
  std::vector<size_t> Needed(
      Names names, bool past_shapes,
      const std::function<bool(const std::string&)>& known) const;
  // Infers the types of these and of all values on the way to them.
  void FindTypes(const Names& names, Diagnostics* sink);
  onnx::ModelProto ModelFor(const std::vector<size_t>& places) const;
  // Makes `name` an initializer of `graph` if its numbers may matter, else an
  // input of its type.
  void AddLeaf(const std::string& name, onnx::GraphProto* graph) const;
  bool HasShape(const std::string& name) const;
  TensorPtr ShapeTensor(const std::string& name) const;
  TensorPtr Evaluate(const onnx::NodeProto& node) const;

  const TypeFinder& find_types_;
  const onnx::ModelProto& model_;
  std::vector<onnx::NodeProto> nodes_;
  std::unordered_map<std::string, size_t> maker_;
  std::unordered_map<std::string, const onnx::TensorProto*> initializers_;
  // Inputs whose shape the file says.
  std::unordered_map<std::string, const onnx::TensorShapeProto*> inputs_;
  std::unordered_map<std::string, TensorPtr> values_;  // null: not constant
  ValueTypes types_;
  int64_t inferences_left_;  // of one node each
};

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_BRANCH_CONDITIONS_H_
