#include "compiler/import/inline_functions.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <unordered_map>

#include "compiler/import/labels.h"
#include "onnx/checker.h"
#include "onnx/common/proto_util.h"
#include "onnx/inliner/inliner.h"

namespace fold::importer {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// Nodes and serialized bytes of an expansion, up to a cap.
struct Cost {
  int64_t nodes = 0, bytes = 0;
  void Add(const Cost& other) {
    constexpr int64_t kCap = int64_t{1} << 50;
    nodes = std::min(kCap, nodes + other.nodes);
    bytes = std::min(kCap, bytes + other.bytes);
  }
};

// Costs of a model's functions, each computed once. Requires the calls to be
// free of cycles.
class CostTable {
 public:
  explicit CostTable(const onnx::ModelProto& model) {
    for (const auto& function : model.functions()) {
      functions_.emplace(onnx::GetFunctionImplId(function), &function);
    }
  }

  const onnx::FunctionProto* Callee(const onnx::NodeProto& node) const {
    const auto at = functions_.find(onnx::GetCalleeId(node));
    return at == functions_.end() ? nullptr : at->second;
  }

  Cost Of(const Nodes& nodes) {
    Cost sum;
    for (const auto& node : nodes) {
      const onnx::FunctionProto* callee = Callee(node);
      sum.Add(callee ? Of(*callee)
                     : Cost{1, static_cast<int64_t>(node.ByteSizeLong())});
    }
    return sum;
  }

 private:
  // As deep as calls nest, which the cycle check bounds.
  Cost Of(const onnx::FunctionProto& function) {
    const auto at = costs_.find(&function);
    if (at != costs_.end()) return at->second;
    const Cost cost = Of(function.node());
    costs_.emplace(&function, cost);
    return cost;
  }

  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;
  std::unordered_map<const onnx::FunctionProto*, Cost> costs_;
};

bool CheckNoSubgraph(const Nodes& nodes, Diagnostics* sink) {
  for (const auto& node : nodes) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g() || attribute.graphs_size() > 0) {
        return sink->Add(DiagnosticCode::control_flow, NodeLabel(node),
                         Readable(node.op_type()) +
                             " runs a graph of its own in a model with "
                             "functions, which foldd does not read");
      }
    }
  }
  return true;
}

bool CheckCost(const ImportLimits& limits, const onnx::ModelProto& model,
               Diagnostics* sink) {
  const Cost cost = CostTable(model).Of(model.graph().node());
  if (cost.nodes <= limits.max_nodes &&
      cost.bytes <= static_cast<int64_t>(limits.max_model_bytes)) {
    return true;
  }
  return sink->Add(DiagnosticCode::model_too_large, "functions",
                   "the calls of functions expand to " +
                       std::to_string(cost.nodes) + " nodes of " +
                       std::to_string(cost.bytes) + " bytes or more");
}

bool Expand(const ImportLimits& limits, onnx::ModelProto* model,
            Diagnostics* sink) {
  onnx::checker::check_function_call_cycles(*model);
  if (!CheckNoSubgraph(model->graph().node(), sink)) return false;
  for (const auto& function : model->functions()) {
    if (!CheckNoSubgraph(function.node(), sink)) return false;
  }
  if (!CheckCost(limits, *model, sink)) return false;
  onnx::inliner::InlineLocalFunctions(*model);
  return true;
}

}  // namespace

bool InlineFunctions(const ImportLimits& limits, onnx::ModelProto* model,
                     Diagnostics* sink) {
  if (model->functions().empty()) return true;
  bool good = false;
  try {
    good = Expand(limits, model, sink);
  } catch (const std::exception& error) {
    sink->Add(DiagnosticCode::model_invalid, "functions",
              CleanMessage(error.what()));
  }
  model->clear_functions();
  return good;
}

}  // namespace fold::importer
