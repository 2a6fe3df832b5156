#include "compiler/import/graph_builder.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/import/attribute_reader.h"
#include "compiler/import/labels.h"
#include "compiler/import/tensor_reader.h"
#include "compiler/ops/ops.h"

namespace fold::importer {
namespace {

class GraphBuilder {
 public:
  GraphBuilder(const OpsetVersions& versions, const ValueTypes& types,
               Graph* graph, Diagnostics* sink)
      : versions_(versions), types_(types), graph_(graph), sink_(sink) {}

  bool Build(onnx::GraphProto* proto) {
    graph_->name = proto->name();
    graph_->stage = Stage::imported;
    for (const auto& input : proto->input()) {
      graph_->inputs.push_back(AddValue(input.name()));
    }
    for (auto& tensor : *proto->mutable_initializer()) {
      if (!AddInitializer(&tensor)) return false;
    }
    for (const auto& node : proto->node()) {
      if (!AddNode(node)) return false;
    }
    for (const auto& output : proto->output()) {
      graph_->outputs.push_back(values_.at(output.name()));
      graph_->output_names.push_back(output.name());
    }
    return true;
  }

 private:
  ValueId AddValue(const std::string& name) {
    const ValueId id = graph_->AddValue(name, types_.at(name));
    values_.emplace(name, id);
    return id;
  }

  bool AddInitializer(onnx::TensorProto* proto) {
    TensorPtr tensor = ReadTensor(*proto, proto->name(), sink_);
    if (tensor == nullptr) return false;
    std::string().swap(*proto->mutable_raw_data());
    values_.emplace(proto->name(),
                    graph_->AddConstant(proto->name(), std::move(tensor)));
    return true;
  }

  bool AddNode(const onnx::NodeProto& proto) {
    Node node;
    node.op = ToId(*OpFromOnnx(proto.domain(), proto.op_type()));
    node.name = proto.name();
    for (const std::string& operand : proto.input()) {
      node.operands.push_back(operand.empty() ? ValueId()
                                              : values_.at(operand));
    }
    while (!node.operands.empty() && !node.operands.back().valid()) {
      node.operands.pop_back();
    }
    for (const std::string& result : proto.output()) {
      node.results.push_back(result.empty() ? ValueId() : AddValue(result));
    }
    while (!node.results.empty() && !node.results.back().valid()) {
      node.results.pop_back();
    }
    if (!ReadAttributes(proto, versions_, &node.attributes, sink_)) {
      return false;
    }
    node.provenance.Add(ProvenanceName(proto));
    graph_->AddNode(std::move(node));
    return true;
  }

  // Two nodes of one name would be one in reports: the second is known by its
  // result, like a node without a name.
  std::string ProvenanceName(const onnx::NodeProto& proto) {
    if (!proto.name().empty() && node_names_.insert(proto.name()).second) {
      return proto.name();
    }
    for (const std::string& result : proto.output()) {
      if (!result.empty()) return proto.op_type() + "->" + result;
    }
    return proto.op_type();
  }

  const OpsetVersions& versions_;
  const ValueTypes& types_;
  Graph* graph_;
  Diagnostics* sink_;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_set<std::string> node_names_;
};

}  // namespace

bool BuildGraph(const OpsetVersions& versions, const ValueTypes& types,
                onnx::ModelProto* model, Graph* graph, Diagnostics* sink) {
  return GraphBuilder(versions, types, graph, sink)
      .Build(model->mutable_graph());
}

}  // namespace fold::importer
