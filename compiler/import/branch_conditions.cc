#include "compiler/import/branch_conditions.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "compiler/import/constant_condition.h"
#include "compiler/import/element_types.h"

namespace fold::importer {
namespace {

// Shapes are asked for again and again as the list grows; values of float
// types that are known already are not walked past.
constexpr int64_t kInferencesPerNode = 4;

bool AsksForShape(const onnx::NodeProto& node) {
  return node.domain().empty() && node.input_size() == 1 &&
         (node.op_type() == "Shape" || node.op_type() == "Size");
}

bool IsFloatConstant(const onnx::NodeProto& node) {
  return node.op_type() == "Constant" && node.domain().empty() &&
         node.attribute_size() == 1 && node.attribute(0).has_t() &&
         IsFloat(FromOnnxType(node.attribute(0).t().data_type()));
}

void AddTyped(const std::string& name, int data_type, const Shape& shape,
              onnx::GraphProto* graph) {
  auto* info = graph->add_input();
  info->set_name(name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(data_type);
  type->mutable_shape();
  for (int64_t dimension : shape) {
    type->mutable_shape()->add_dim()->set_dim_value(dimension);
  }
}

Shape DimsOf(const onnx::TensorProto& tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}

bool HasKnownShape(const onnx::ValueInfoProto& input) {
  const auto& type = input.type().tensor_type();
  const auto& dims = type.shape().dim();
  return type.has_shape() &&
         std::all_of(dims.begin(), dims.end(),
                     [](const auto& dim) { return dim.has_dim_value(); });
}

}  // namespace

BranchConditions::BranchConditions(const ImportLimits& limits,
                                   const TypeFinder& find_types,
                                   const onnx::ModelProto& model)
    : find_types_(find_types),
      model_(model),
      inferences_left_(kInferencesPerNode * limits.max_nodes) {
  for (const auto& tensor : model.graph().initializer()) {
    AddInitializer(tensor);
  }
  for (const auto& input : model.graph().input()) {
    if (HasKnownShape(input)) {
      inputs_.emplace(input.name(), &input.type().tensor_type().shape());
    }
  }
}

void BranchConditions::AddInitializer(const onnx::TensorProto& tensor) {
  initializers_.emplace(tensor.name(), &tensor);
}

void BranchConditions::AddNode(onnx::NodeProto node) {
  for (const std::string& result : node.output()) {
    if (!result.empty()) maker_.emplace(result, nodes_.size());
  }
  nodes_.push_back(std::move(node));
}

std::vector<size_t> BranchConditions::Needed(
    Names names, bool past_shapes,
    const std::function<bool(const std::string&)>& known) const {
  std::unordered_set<size_t> seen;
  while (!names.empty()) {
    const std::string name = std::move(names.back());
    names.pop_back();
    const auto at = maker_.find(name);
    if (at == maker_.end() || known(name)) continue;
    if (!seen.insert(at->second).second) continue;
    const onnx::NodeProto& node = nodes_[at->second];
    if (!past_shapes && AsksForShape(node)) continue;
    names.insert(names.end(), node.input().begin(), node.input().end());
  }
  std::vector<size_t> places(seen.begin(), seen.end());
  std::sort(places.begin(), places.end());
  return places;
}

bool BranchConditions::HasShape(const std::string& name) const {
  return types_.count(name) || initializers_.count(name) || inputs_.count(name);
}

TensorPtr BranchConditions::ShapeTensor(const std::string& name) const {
  Shape shape;
  if (const auto at = types_.find(name); at != types_.end()) {
    shape = at->second.shape;
  } else if (const auto constant = initializers_.find(name);
             constant != initializers_.end()) {
    shape = DimsOf(*constant->second);
  } else if (const auto input = inputs_.find(name); input != inputs_.end()) {
    for (const auto& dim : input->second->dim()) {
      shape.push_back(dim.dim_value());
    }
  } else {
    return nullptr;
  }
  return MakeIntegerTensor(ElementType::i64,
                           {static_cast<int64_t>(shape.size())}, shape);
}

TensorPtr BranchConditions::Evaluate(const onnx::NodeProto& node) const {
  std::vector<TensorPtr> operands;
  for (const std::string& name : node.input()) {
    if (AsksForShape(node)) {
      operands.push_back(ShapeTensor(name));
    } else if (const auto constant = initializers_.find(name);
               constant != initializers_.end()) {
      operands.push_back(SmallTensor(*constant->second));
    } else {
      const auto at = values_.find(name);
      operands.push_back(at == values_.end() ? nullptr : at->second);
    }
  }
  return EvaluateSmall(node, operands);
}

TensorPtr BranchConditions::ValueOf(const std::string& name,
                                    Diagnostics* sink) {
  const auto constant = initializers_.find(name);
  if (constant != initializers_.end()) return SmallTensor(*constant->second);
  const auto known = [&](const std::string& n) { return values_.count(n) > 0; };
  const std::vector<size_t> places = Needed({name}, false, known);
  Names unknown;
  for (size_t place : places) {
    const onnx::NodeProto& node = nodes_[place];
    if (AsksForShape(node) && !HasShape(node.input(0))) {
      unknown.push_back(node.input(0));
    }
  }
  if (!unknown.empty()) FindTypes(unknown, sink);
  for (size_t place : places) {
    const TensorPtr value = Evaluate(nodes_[place]);
    for (const std::string& result : nodes_[place].output()) {
      values_[result] = value;
    }
  }
  const auto at = values_.find(name);
  return at == values_.end() ? nullptr : at->second;
}

void BranchConditions::AddLeaf(const std::string& name,
                               onnx::GraphProto* graph) const {
  if (const auto at = initializers_.find(name); at != initializers_.end()) {
    const onnx::TensorProto& tensor = *at->second;
    if (SmallTensor(tensor) != nullptr) {
      *graph->add_initializer() = tensor;
    } else {
      AddTyped(name, tensor.data_type(), DimsOf(tensor), graph);
    }
  } else if (const auto type = types_.find(name); type != types_.end()) {
    AddTyped(name, onnx::TensorProto::FLOAT, type->second.shape, graph);
  }
}

onnx::ModelProto BranchConditions::ModelFor(
    const std::vector<size_t>& places) const {
  onnx::ModelProto part;
  part.set_ir_version(model_.ir_version());
  *part.mutable_opset_import() = model_.opset_import();
  onnx::GraphProto* graph = part.mutable_graph();
  graph->set_name(model_.graph().name());
  std::unordered_set<std::string> made = {""};
  for (const auto& input : model_.graph().input()) {
    if (initializers_.count(input.name())) continue;
    *graph->add_input() = input;
    made.insert(input.name());
  }
  for (size_t place : places) {
    const onnx::NodeProto& node = nodes_[place];
    for (const std::string& operand : node.input()) {
      if (made.insert(operand).second) AddLeaf(operand, graph);
    }
    if (IsFloatConstant(node)) {
      const auto& tensor = node.attribute(0).t();
      AddTyped(node.output(0), tensor.data_type(), DimsOf(tensor), graph);
    } else {
      *graph->add_node() = node;
    }
    made.insert(node.output().begin(), node.output().end());
  }
  // A graph has an output, of a declared type.
  std::string name = "output";
  while (made.count(name)) name += "_";
  onnx::TensorProto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::INT64);
  tensor->add_int64_data(0);
  auto* output = graph->add_output();
  output->set_name(name);
  auto* type = output->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::INT64);
  type->mutable_shape();
  return part;
}

void BranchConditions::FindTypes(const Names& names, Diagnostics* sink) {
  const std::vector<size_t> places =
      Needed(names, true, [&](const std::string& name) {
        const auto at = types_.find(name);
        return at != types_.end() && at->second.element == ElementType::f32;
      });
  inferences_left_ -=
      static_cast<int64_t>(places.size()) + model_.graph().input_size();
  if (inferences_left_ < 0) return;
  onnx::ModelProto part = ModelFor(places);
  ValueTypes found;
  Diagnostics faults;
  if (find_types_(&part, &found, &faults)) {
    for (auto& [name, type] : found) types_[name] = std::move(type);
    return;
  }
  for (const Diagnostic& fault : faults.all()) {
    if (fault.code != DiagnosticCode::dynamic_shape &&
        fault.code != DiagnosticCode::bad_shape_flag) {
      continue;
    }
    sink->Add(fault.code, fault.node, fault.message);
    return;
  }
}

}  // namespace fold::importer
