#include "compiler/check/network.h"

#include <utility>

#include "compiler/check/meaning.h"

namespace fold::check {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 28;

std::optional<Shape> InputShape(const onnx::ValueInfoProto& input,
                                const InputShapes& shapes) {
  Shape shape;
  const auto given = shapes.find(input.name());
  if (given != shapes.end()) {
    shape = given->second;
  } else {
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      // An unnamed or symbolic batch counts as 1, as in the compiler's
      // default.
      shape.push_back(dim.has_dim_value() ? dim.dim_value() : 1);
    }
  }
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size <= 0 || __builtin_mul_overflow(count, size, &count) ||
        count > kMostElements) {
      return std::nullopt;
    }
  }
  return shape;
}

}  // namespace

bool Network::AddInputs(const onnx::GraphProto& graph,
                        const InputShapes& shapes, std::string* why) {
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (values_.count(input.name()) != 0) continue;  // has an initializer
    const std::optional<Shape> shape = InputShape(input, shapes);
    if (!shape) {
      *why = "input " + input.name() + " has no usable shape";
      return false;
    }
    const int type = input.type().tensor_type().elem_type();
    const auto range = CodeRange(type);
    Root root;
    root.kind = range ? Root::Kind::kInteger : Root::Kind::kReal;
    root.name = input.name();
    root.shape = *shape;
    values_[input.name()] =
        RootValue(roots_.Add(std::move(root)), *shape, type, nullptr,
                  {range ? Whole(range->first, range->second) : Interval{}});
  }
  return true;
}

bool Network::Load(std::span<const uint8_t> bytes, const InputShapes& shapes,
                   std::string* why) {
  onnx::ModelProto model;
  if (!ParseModel(bytes, &model)) {
    *why = "not an ONNX model";
    return false;
  }
  const onnx::GraphProto& graph = model.graph();
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    values_[tensor.name()] = ReadTensor(tensor);
  }
  if (!AddInputs(graph, shapes, why)) return false;
  const Value missing = UnknownValue("a value that no node defines before");
  for (const onnx::NodeProto& node : graph.node()) {
    std::vector<const Value*> in;
    for (const std::string& name : node.input()) {
      const Value* value = name.empty() ? nullptr : Find(name);
      in.push_back(name.empty()       ? nullptr
                   : value != nullptr ? value
                                      : &missing);
    }
    const std::string first =
        node.output_size() > 0 ? node.output(0) : std::string();
    std::vector<Value> operands;
    std::vector<std::pair<std::string, Value>> named;
    const Scope scope{&roots_, &node,     Attributes(node),
                      first,   &operands, &named};
    std::vector<Value> out = Evaluate(scope, in);
    for (auto& [name, value] : named) {
      values_.emplace(name, std::move(value));
      nodes_[NodeName(node)].push_back(name);
    }
    if (!operands.empty()) operands_[NodeName(node)] = std::move(operands);
    std::vector<std::string>& names = nodes_[NodeName(node)];
    for (int i = 0; i < node.output_size(); ++i) {
      names.push_back(node.output(i));
      values_[node.output(i)] = std::move(out[i]);
    }
  }
  for (const onnx::ValueInfoProto& output : graph.output()) {
    outputs_.push_back(output.name());
  }
  return true;
}

const Value* Network::Find(const std::string& name) const {
  const auto at = values_.find(name);
  return at == values_.end() ? nullptr : &at->second;
}

std::vector<std::string> Network::OutputsOf(const std::string& node) const {
  const auto at = nodes_.find(node);
  return at == nodes_.end() ? std::vector<std::string>() : at->second;
}

std::vector<Value> Network::OperandsOf(const std::string& node) const {
  const auto at = operands_.find(node);
  return at == operands_.end() ? std::vector<Value>() : at->second;
}

}  // namespace fold::check
