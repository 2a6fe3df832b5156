#include "compiler/import/onnx_importer.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "compiler/import/external_data.h"
#include "compiler/import/graph_builder.h"
#include "compiler/import/graph_checks.h"
#include "compiler/import/inference.h"
#include "compiler/import/inline_branches.h"
#include "compiler/import/inline_functions.h"
#include "compiler/import/labels.h"
#include "compiler/import/model_reader.h"
#include "compiler/import/operator_checks.h"
#include "compiler/import/schema_registry.h"
#include "compiler/import/shape_binding.h"

namespace fold {
namespace importer {
namespace {

// From this file format version on, initializers need not be inputs.
constexpr int64_t kIrVersionOfFreeInitializers = 4;

bool CheckNodeCount(const onnx::GraphProto& graph, const ImportLimits& limits,
                    Diagnostics* sink) {
  if (graph.node_size() <= limits.max_nodes) return true;
  return sink->Add(DiagnosticCode::model_too_large, "graph.node",
                   std::to_string(graph.node_size()) + " nodes; the limit is " +
                       std::to_string(limits.max_nodes));
}

bool LoadAllExternalData(const ImportOptions& options, onnx::GraphProto* graph,
                         Diagnostics* sink) {
  for (auto& tensor : *graph->mutable_initializer()) {
    if (!LoadExternalData(&tensor, tensor.name(), options, sink)) return false;
  }
  for (auto& node : *graph->mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t() &&
          !LoadExternalData(attribute.mutable_t(), NodeLabel(node), options,
                            sink)) {
        return false;
      }
    }
  }
  return true;
}

// Checks a model without subgraphs and finds the types of its values.
bool CheckAndInfer(const ImportOptions& options, const OpsetVersions& versions,
                   onnx::ModelProto* model, ValueTypes* types,
                   Diagnostics* sink) {
  const ImportLimits& limits = options.limits;
  onnx::GraphProto* graph = model->mutable_graph();
  if (!CheckNodeCount(*graph, limits, sink) || !CheckNames(*graph, sink) ||
      !CheckOperators(*graph, versions, sink) ||
      !CheckTypes(*graph, limits, sink) ||
      !RemoveInitializedInputs(graph, sink) ||
      !BindShapes(options.shapes, graph, sink) ||
      !LoadAllExternalData(options, graph, sink)) {
    return false;
  }
  model->set_ir_version(
      std::max(model->ir_version(), kIrVersionOfFreeInitializers));
  return CheckWithOnnx(*model, versions, sink) &&
         InferTypes(limits, model, types, sink);
}

bool Import(std::span<const uint8_t> bytes, const ImportOptions& options,
            Graph* graph, Diagnostics* sink) {
  onnx::ModelProto model;
  OpsetVersions versions;
  const TypeFinder find_types = [&](onnx::ModelProto* part, ValueTypes* types,
                                    Diagnostics* faults) {
    return CheckAndInfer(options, versions, part, types, faults);
  };
  ValueTypes types;
  return ReadModel(bytes, options.limits, &model, &versions, sink) &&
         InlineBranches(options.limits, find_types, &model, sink) &&
         InlineFunctions(options.limits, &model, sink) &&
         CheckAndInfer(options, versions, &model, &types, sink) &&
         BuildGraph(versions, types, &model, graph, sink);
}

}  // namespace
}  // namespace importer

bool ImportOnnx(std::span<const uint8_t> model, const ImportOptions& options,
                Graph* graph, Diagnostics* sink) {
  try {
    return importer::Import(model, options, graph, sink);
  } catch (const std::bad_alloc&) {
    return sink->Add(DiagnosticCode::model_too_large, "model",
                     "there is not enough memory to read it");
  } catch (const std::exception& error) {
    return sink->Add(DiagnosticCode::model_invalid, "model",
                     importer::CleanMessage(error.what()));
  }
}

void WarmOnnx() {
  importer::SchemaRegistry::Instance();
  onnx::ModelProto::descriptor();
}

}  // namespace fold
