#include "compiler/import/graph_checks.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "compiler/import/element_types.h"
#include "compiler/import/labels.h"
#include "compiler/import/tensor_reader.h"

namespace fold::importer {
namespace {

using NameSet = std::unordered_set<std::string>;

bool Invalid(Diagnostics* sink, const std::string& node,
             const std::string& what) {
  return sink->Add(DiagnosticCode::model_invalid, Readable(node), what);
}

// Inputs and initializers. An initializer may have the name of an input.
bool DefineSources(const onnx::GraphProto& graph, NameSet* defined,
                   Diagnostics* sink) {
  for (const auto& input : graph.input()) {
    if (input.name().empty()) {
      return Invalid(sink, "graph.input", "an input has no name");
    }
    if (!defined->insert(input.name()).second) {
      return Invalid(sink, input.name(), "two inputs have this name");
    }
  }
  NameSet initializers;
  for (const auto& tensor : graph.initializer()) {
    if (tensor.name().empty()) {
      return Invalid(sink, "graph.initializer", "one has no name");
    }
    if (!initializers.insert(tensor.name()).second) {
      return Invalid(sink, tensor.name(), "two initializers have this name");
    }
    defined->insert(tensor.name());
  }
  return true;
}

NameSet AllResults(const onnx::GraphProto& graph) {
  NameSet results;
  for (const auto& node : graph.node()) {
    results.insert(node.output().begin(), node.output().end());
  }
  return results;
}

bool CheckNode(const onnx::NodeProto& node, const NameSet& results,
               NameSet* defined, Diagnostics* sink) {
  const std::string label = NodeLabel(node);
  if (node.op_type().empty()) return Invalid(sink, label, "has no operator");
  bool any_result = false;
  for (const std::string& operand : node.input()) {
    if (operand.empty() || defined->count(operand)) continue;
    const std::string what = "operand '" + Readable(operand) + "' ";
    return Invalid(sink, label,
                   what + (results.count(operand)
                               ? "is made by this or a later node: the nodes "
                                 "are out of order or form a cycle"
                               : "is made by nobody"));
  }
  for (const std::string& result : node.output()) {
    if (result.empty()) continue;
    any_result = true;
    if (!defined->insert(result).second) {
      return Invalid(sink, label,
                     "result '" + Readable(result) + "' is made twice");
    }
  }
  return any_result || Invalid(sink, label, "has no result");
}

// One declared type; an open dimension counts as 1.
bool CheckValueInfo(const onnx::ValueInfoProto& info,
                    const ImportLimits& limits, Diagnostics* sink) {
  if (!info.type().has_tensor_type()) {
    const bool none =
        info.type().value_case() == onnx::TypeProto::VALUE_NOT_SET;
    return sink->Add(
        none ? DiagnosticCode::model_invalid : DiagnosticCode::unsupported_type,
        Readable(info.name()),
        none ? "has no type" : "is a sequence, map, optional or sparse tensor");
  }
  const auto& tensor = info.type().tensor_type();
  const ElementType type = FromOnnxType(tensor.elem_type());
  if (type == ElementType::undefined) {
    return sink->Add(DiagnosticCode::unsupported_type, Readable(info.name()),
                     "element type " + OnnxTypeName(tensor.elem_type()));
  }
  Shape known;
  for (const auto& dim : tensor.shape().dim()) {
    known.push_back(dim.has_dim_value() ? dim.dim_value() : 1);
  }
  return CheckShape(info.name(), type, known, limits, sink);
}

// Counts the bytes of all constants as they are checked.
class ConstantCheck {
 public:
  ConstantCheck(const ImportLimits& limits, Diagnostics* sink)
      : limits_(limits), sink_(sink) {}

  bool Tensor(const onnx::TensorProto& tensor, const std::string& name) {
    if (!CheckTensor(tensor, name, limits_, sink_)) return false;
    const int64_t bytes = UnpackedByteCount(tensor);
    if (bytes > limits_.max_constant_bytes - sum_) {
      return sink_->Add(DiagnosticCode::model_too_large, Readable(name),
                        "with this the constants take more than " +
                            std::to_string(limits_.max_constant_bytes) +
                            " bytes");
    }
    sum_ += bytes;
    return true;
  }

  bool Attributes(const onnx::NodeProto& node) {
    const std::string label = NodeLabel(node);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t() && !Tensor(attribute.t(), label)) return false;
      for (const auto& tensor : attribute.tensors()) {
        if (!Tensor(tensor, label)) return false;
      }
      if (attribute.has_sparse_tensor()) {
        return sink_->Add(DiagnosticCode::unsupported_type, label,
                          "a sparse tensor");
      }
    }
    return true;
  }

 private:
  const ImportLimits& limits_;
  Diagnostics* sink_;
  int64_t sum_ = 0;
};

bool TypesAgree(const onnx::ValueInfoProto& input,
                const onnx::TensorProto& tensor) {
  const auto& type = input.type().tensor_type();
  if (type.elem_type() != tensor.data_type()) return false;
  if (!type.has_shape()) return true;
  if (type.shape().dim_size() != tensor.dims_size()) return false;
  for (int i = 0; i < tensor.dims_size(); ++i) {
    const auto& dim = type.shape().dim(i);
    if (dim.has_dim_value() && dim.dim_value() != tensor.dims(i)) return false;
  }
  return true;
}

}  // namespace

bool CheckNames(const onnx::GraphProto& graph, Diagnostics* sink) {
  NameSet defined;
  if (!DefineSources(graph, &defined, sink)) return false;
  const NameSet results = AllResults(graph);
  for (const auto& node : graph.node()) {
    if (!CheckNode(node, results, &defined, sink)) return false;
  }
  if (graph.output().empty()) {
    return Invalid(sink, "graph.output", "the graph has no output");
  }
  for (const auto& output : graph.output()) {
    if (!defined.count(output.name())) {
      return Invalid(sink, output.name(),
                     "an output of the graph that nobody makes");
    }
  }
  return true;
}

bool CheckTypes(const onnx::GraphProto& graph, const ImportLimits& limits,
                Diagnostics* sink) {
  for (const auto& sparse : graph.sparse_initializer()) {
    return sink->Add(DiagnosticCode::unsupported_type,
                     Readable(sparse.values().name()), "a sparse initializer");
  }
  for (const auto& input : graph.input()) {
    if (!CheckValueInfo(input, limits, sink)) return false;
  }
  for (const auto& output : graph.output()) {
    if (!CheckValueInfo(output, limits, sink)) return false;
  }
  ConstantCheck constants(limits, sink);
  for (const auto& tensor : graph.initializer()) {
    if (!constants.Tensor(tensor, tensor.name())) return false;
  }
  for (const auto& node : graph.node()) {
    if (!constants.Attributes(node)) return false;
  }
  return true;
}

bool RemoveInitializedInputs(onnx::GraphProto* graph, Diagnostics* sink) {
  std::unordered_map<std::string, const onnx::TensorProto*> initializers;
  for (const auto& tensor : graph->initializer()) {
    initializers.emplace(tensor.name(), &tensor);
  }
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> inputs;
  for (auto& input : *graph->mutable_input()) {
    const auto at = initializers.find(input.name());
    if (at == initializers.end()) {
      inputs.Add()->Swap(&input);
    } else if (!TypesAgree(input, *at->second)) {
      return Invalid(sink, input.name(),
                     "the input's type is not that of the initializer of the "
                     "same name");
    }
  }
  graph->mutable_input()->Swap(&inputs);
  return true;
}

}  // namespace fold::importer
