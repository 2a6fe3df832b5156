#include "tests/regress/model_builder.h"

namespace fold::regress {
namespace {

using onnx::AttributeProto;
using onnx::TensorProto;

void Describe(const std::string& name, int32_t type, const Shape& shape,
              onnx::ValueInfoProto* value) {
  value->set_name(name);
  auto* tensor = value->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (int64_t size : shape) {
    tensor->mutable_shape()->add_dim()->set_dim_value(size);
  }
}

}  // namespace

ModelBuilder::ModelBuilder(const std::string& name) {
  model_.set_ir_version(8);
  auto* opset = model_.add_opset_import();
  opset->set_domain("");
  opset->set_version(17);
  graph()->set_name(name);
}

onnx::NodeProto* ModelBuilder::AddNode(const std::string& op,
                                       const std::vector<std::string>& inputs) {
  onnx::NodeProto* node = graph()->add_node();
  const size_t dot = op.rfind('.');
  if (dot != std::string::npos) UseDomain(op.substr(0, dot), node);
  node->set_op_type(dot == std::string::npos ? op : op.substr(dot + 1));
  node->set_name(Name(node->op_type() + "_"));
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(Name("v"));
  return node;
}

void ModelBuilder::UseDomain(const std::string& domain, onnx::NodeProto* node) {
  node->set_domain(domain);
  for (const auto& opset : model_.opset_import()) {
    if (opset.domain() == domain) return;
  }
  auto* opset = model_.add_opset_import();
  opset->set_domain(domain);
  opset->set_version(1);
}

std::string ModelBuilder::Floats(const std::string& stem, const Shape& shape,
                                 const std::vector<float>& values) {
  TensorProto* tensor = graph()->add_initializer();
  tensor->set_name(Name(stem));
  tensor->set_data_type(TensorProto::FLOAT);
  for (int64_t size : shape) tensor->add_dims(size);
  for (float value : values) tensor->add_float_data(value);
  return tensor->name();
}

std::string ModelBuilder::Integers(const std::string& stem, int32_t type,
                                   const Shape& shape,
                                   const std::vector<int64_t>& values) {
  TensorProto* tensor = graph()->add_initializer();
  tensor->set_name(Name(stem));
  tensor->set_data_type(type);
  for (int64_t size : shape) tensor->add_dims(size);
  for (int64_t value : values) {
    if (type == TensorProto::INT64) {
      tensor->add_int64_data(value);
    } else {
      tensor->add_int32_data(static_cast<int32_t>(value));
    }
  }
  return tensor->name();
}

void ModelBuilder::AddInput(const std::string& name, int32_t type,
                            const Shape& shape) {
  Describe(name, type, shape, graph()->add_input());
}

void ModelBuilder::AddOutput(const std::string& name, int32_t type,
                             const Shape& shape) {
  Describe(name, type, shape, graph()->add_output());
}

void ModelBuilder::Set(onnx::NodeProto* node, const std::string& key,
                       int64_t value) {
  AttributeProto* attribute = node->add_attribute();
  attribute->set_name(key);
  attribute->set_type(AttributeProto::INT);
  attribute->set_i(value);
}

void ModelBuilder::Set(onnx::NodeProto* node, const std::string& key,
                       const std::vector<int64_t>& values) {
  AttributeProto* attribute = node->add_attribute();
  attribute->set_name(key);
  attribute->set_type(AttributeProto::INTS);
  for (int64_t value : values) attribute->add_ints(value);
}

}  // namespace fold::regress
