#include "compiler/import/operator_checks.h"

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/import/labels.h"
#include "compiler/import/schema_registry.h"
#include "compiler/ops/ops.h"

namespace fold::importer {
namespace {

using onnx::AttributeProto;

struct Fault {
  DiagnosticCode code;
  std::string message;
};

bool HasSubgraph(const onnx::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const AttributeProto& attribute) {
                       return attribute.has_g() || attribute.graphs_size() > 0;
                     });
}

// "Conv" or "com.microsoft.Gelu".
std::string OperatorName(const onnx::NodeProto& node) {
  const std::string domain = node.domain().empty() ? "" : node.domain() + ".";
  return Readable(domain + node.op_type());
}

std::optional<Fault> OperatorFault(const onnx::NodeProto& node,
                                   const OpsetVersions& versions) {
  const std::string name = OperatorName(node);
  if (node.op_type() == "DynamicQuantizeLinear" && node.domain().empty()) {
    return Fault{DiagnosticCode::dynamic_quantization,
                 "DynamicQuantizeLinear computes scale and zero point from "
                 "its input at run time; quantize statically instead"};
  }
  if (HasSubgraph(node) && node.op_type() == "If" && node.domain().empty() &&
      node.input_size() == 1) {
    return Fault{DiagnosticCode::control_flow,
                 "If chooses its branch at run time: the condition '" +
                     Readable(node.input(0)) +
                     "' does not follow from constants and shapes"};
  }
  if (HasSubgraph(node)) {
    return Fault{DiagnosticCode::control_flow,
                 name + " runs a graph of its own, which foldd does not read"};
  }
  if (!OpFromOnnx(node.domain(), node.op_type())) {
    return Fault{DiagnosticCode::unsupported_operator,
                 "foldd does not read the operator " + name};
  }
  const auto version = versions.find(node.domain());
  if (version == versions.end()) {
    return Fault{DiagnosticCode::model_invalid,
                 name + ": the model has no opset_import for this domain"};
  }
  const onnx::OpSchema* schema = SchemaRegistry::Instance().GetSchema(
      node.op_type(), version->second, node.domain());
  if (schema == nullptr || schema->Deprecated()) {
    return Fault{DiagnosticCode::unsupported_operator,
                 name + " does not exist in version " +
                     std::to_string(version->second) + " of its operator set"};
  }
  return std::nullopt;
}

std::optional<Fault> AttributeFault(const onnx::NodeProto& node) {
  for (const AttributeProto& attribute : node.attribute()) {
    const std::string name = "attribute '" + Readable(attribute.name()) + "' ";
    if (!attribute.ref_attr_name().empty()) {
      return Fault{DiagnosticCode::model_invalid,
                   name + "refers to a function's outside of one"};
    }
    switch (attribute.type()) {
      case AttributeProto::FLOAT:
      case AttributeProto::INT:
      case AttributeProto::STRING:
      case AttributeProto::TENSOR:
      case AttributeProto::FLOATS:
      case AttributeProto::INTS:
      case AttributeProto::STRINGS:
        break;
      default:
        return Fault{DiagnosticCode::unsupported_attribute,
                     name + "is of a kind that foldd does not read"};
    }
  }
  return std::nullopt;
}

}  // namespace

bool CheckOperators(const onnx::GraphProto& graph,
                    const OpsetVersions& versions, Diagnostics* sink) {
  int faulty = 0;
  for (const onnx::NodeProto& node : graph.node()) {
    std::optional<Fault> fault = OperatorFault(node, versions);
    if (!fault) fault = AttributeFault(node);
    if (!fault) continue;
    if (++faulty <= kMostReportedNodes) {
      sink->Add(fault->code, NodeLabel(node), fault->message);
    }
  }
  if (faulty > kMostReportedNodes) {
    sink->Add(DiagnosticCode::unsupported_operator, "graph",
              std::to_string(faulty - kMostReportedNodes) +
                  " more nodes that foldd does not read");
  }
  return faulty == 0;
}

}  // namespace fold::importer
