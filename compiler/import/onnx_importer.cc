#include "compiler/import/onnx_importer.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "compiler/import/external_data.h"
#include "compiler/import/graph_builder.h"
#include "compiler/import/graph_checks.h"
#include "compiler/import/inference.h"
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

bool Import(std::span<const uint8_t> bytes, const ImportOptions& options,
            Graph* graph, Diagnostics* sink) {
  const ImportLimits& limits = options.limits;
  onnx::ModelProto model;
  OpsetVersions versions;
  if (!ReadModel(bytes, limits, &model, &versions, sink) ||
      !InlineFunctions(limits, &model, sink)) {
    return false;
  }
  onnx::GraphProto* proto = model.mutable_graph();
  if (!CheckNodeCount(*proto, limits, sink) || !CheckNames(*proto, sink) ||
      !CheckOperators(*proto, versions, sink) ||
      !CheckTypes(*proto, limits, sink) ||
      !RemoveInitializedInputs(proto, sink) ||
      !BindShapes(options.shapes, proto, sink) ||
      !LoadAllExternalData(options, proto, sink)) {
    return false;
  }
  model.set_ir_version(
      std::max(model.ir_version(), kIrVersionOfFreeInitializers));
  ValueTypes types;
  return CheckWithOnnx(model, versions, sink) &&
         InferTypes(limits, &model, &types, sink) &&
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
