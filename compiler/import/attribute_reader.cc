#include "compiler/import/attribute_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/import/labels.h"
#include "compiler/import/tensor_reader.h"
#include "compiler/import/versioned_ops.h"

namespace fold::importer {
namespace {

using onnx::AttributeProto;

// False if a tensor in it cannot be read.
bool ReadAttribute(const AttributeProto& proto, const std::string& label,
                   Attribute* attribute, Diagnostics* sink) {
  switch (proto.type()) {
    case AttributeProto::FLOAT:
      *attribute = static_cast<double>(proto.f());
      return true;
    case AttributeProto::INT:
      *attribute = static_cast<int64_t>(proto.i());
      return true;
    case AttributeProto::STRING:
      *attribute = proto.s();
      return true;
    case AttributeProto::FLOATS:
      *attribute =
          std::vector<double>(proto.floats().begin(), proto.floats().end());
      return true;
    case AttributeProto::INTS:
      *attribute =
          std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
      return true;
    case AttributeProto::STRINGS:
      *attribute = std::vector<std::string>(proto.strings().begin(),
                                            proto.strings().end());
      return true;
    default: {
      TensorPtr tensor = ReadTensor(proto.t(), label, sink);
      *attribute = tensor;
      return tensor != nullptr;
    }
  }
}

// The tensor that a Constant node's attribute stands for; null for strings.
TensorPtr ConstantValue(const AttributeProto& proto) {
  if (proto.name() == "value_int") {
    return MakeIntegerTensor(ElementType::i64, {}, {proto.i()});
  }
  if (proto.name() == "value_float") {
    return MakeRealTensor(ElementType::f32, {}, {proto.f()});
  }
  if (proto.name() == "value_ints") {
    return MakeIntegerTensor(ElementType::i64, {proto.ints_size()},
                             {proto.ints().begin(), proto.ints().end()});
  }
  if (proto.name() == "value_floats") {
    return MakeRealTensor(ElementType::f32, {proto.floats_size()},
                          {proto.floats().begin(), proto.floats().end()});
  }
  return nullptr;
}

bool ReadConstant(const onnx::NodeProto& node, const std::string& label,
                  AttributeMap* attributes, Diagnostics* sink) {
  if (node.attribute_size() != 1) {
    return sink->Add(DiagnosticCode::model_invalid, label,
                     "a Constant needs one value");
  }
  const AttributeProto& proto = node.attribute(0);
  TensorPtr tensor;
  if (proto.type() == AttributeProto::TENSOR) {
    tensor = ReadTensor(proto.t(), label, sink);
    if (tensor == nullptr) return false;
  } else {
    tensor = ConstantValue(proto);
  }
  if (tensor == nullptr) {
    return sink->Add(
        DiagnosticCode::unsupported_type, label,
        "a Constant with the attribute '" + Readable(proto.name()) + "'");
  }
  attributes->insert_or_assign("value", std::move(tensor));
  return true;
}

}  // namespace

bool ReadAttributes(const onnx::NodeProto& node, const OpsetVersions& versions,
                    AttributeMap* attributes, Diagnostics* sink) {
  const std::string label = NodeLabel(node);
  if (node.op_type() == "Constant" && node.domain().empty()) {
    return ReadConstant(node, label, attributes, sink);
  }
  for (const AttributeProto& proto : node.attribute()) {
    Attribute attribute;
    if (!ReadAttribute(proto, label, &attribute, sink)) return false;
    attributes->insert_or_assign(proto.name(), std::move(attribute));
  }
  if (MeaningDependsOnOpset(node.domain(), node.op_type())) {
    attributes->insert_or_assign(
        "opset", static_cast<int64_t>(versions.at(node.domain())));
  }
  return true;
}

}  // namespace fold::importer
