#include "compiler/import/inference.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "compiler/import/element_types.h"
#include "compiler/import/labels.h"
#include "compiler/import/schema_registry.h"
#include "onnx/checker.h"
#include "onnx/shape_inference/implementation.h"

namespace fold::importer {
namespace {

using TypeMap = std::unordered_map<std::string, onnx::TypeProto>;

// Runs `step` of the onnx library.
template <typename Step>
bool Guarded(DiagnosticCode code, Diagnostics* sink, const Step& step) {
  try {
    step();
    return true;
  } catch (const std::bad_alloc&) {
    return sink->Add(DiagnosticCode::model_too_large, "model",
                     "there is not enough memory to check it");
  } catch (const std::exception& error) {
    return sink->Add(code, NodeInMessage(error.what()),
                     CleanMessage(error.what()));
  }
}

bool IsKnown(const onnx::TypeProto& type) {
  const auto& tensor = type.tensor_type();
  const auto& dims = tensor.shape().dim();
  return tensor.elem_type() != 0 && tensor.has_shape() &&
         std::all_of(dims.begin(), dims.end(),
                     [](const auto& dim) { return dim.has_dim_value(); });
}

// What the file declares of results, taken out of it.
TypeMap TakeDeclared(onnx::GraphProto* graph) {
  TypeMap declared;
  for (auto& info : *graph->mutable_output()) {
    declared.emplace(info.name(), std::move(*info.mutable_type()));
    info.clear_type();
  }
  for (auto& info : *graph->mutable_value_info()) {
    declared.emplace(info.name(), std::move(*info.mutable_type()));
  }
  graph->clear_value_info();
  return declared;
}

bool RunInference(onnx::ModelProto* model, Diagnostics* sink) {
  const onnx::ShapeInferenceOptions options(/*check_type=*/true,
                                            /*strict_mode=*/1,
                                            /*data_prop=*/true);
  return Guarded(DiagnosticCode::model_invalid, sink, [&] {
    onnx::shape_inference::DataValueMap values;
    onnx::shape_inference::InferShapes(*model, &SchemaRegistry::Instance(),
                                       options, &values);
  });
}

// Types of all inputs, initializers and results after a run.
TypeMap Inferred(const onnx::GraphProto& graph) {
  TypeMap types;
  for (const auto& tensor : graph.initializer()) {
    auto* type = types[tensor.name()].mutable_tensor_type();
    type->set_elem_type(tensor.data_type());
    type->mutable_shape();
    for (int64_t dim : tensor.dims()) {
      type->mutable_shape()->add_dim()->set_dim_value(dim);
    }
  }
  for (const auto& info : graph.input()) types[info.name()] = info.type();
  for (const auto& info : graph.value_info()) types[info.name()] = info.type();
  for (const auto& info : graph.output()) {
    // Empty where a node before has given the type, or none has.
    if (info.type().has_tensor_type()) types[info.name()] = info.type();
  }
  return types;
}

// Puts declared types of values that inference left open back into the graph.
// Returns whether there are any.
bool AddDeclared(const TypeMap& declared, const TypeMap& inferred,
                 onnx::GraphProto* graph) {
  std::vector<std::string> open;
  for (const auto& node : graph->node()) {
    for (const auto& result : node.output()) {
      const auto known = inferred.find(result);
      if (known != inferred.end() && IsKnown(known->second)) continue;
      if (declared.count(result)) open.push_back(result);
    }
  }
  graph->clear_value_info();
  for (auto& output : *graph->mutable_output()) output.clear_type();
  for (const std::string& name : open) {
    auto* info = graph->add_value_info();
    info->set_name(name);
    *info->mutable_type() = declared.at(name);
  }
  return !open.empty();
}

bool CheckDeclared(const std::string& name, const onnx::TypeProto& declared,
                   const TensorType& found, Diagnostics* sink) {
  const auto& tensor = declared.tensor_type();
  if (!declared.has_tensor_type()) return true;
  if (tensor.elem_type() != 0 &&
      FromOnnxType(tensor.elem_type()) != found.element) {
    return sink->Add(DiagnosticCode::model_invalid, Readable(name),
                     "the file declares element type " +
                         OnnxTypeName(tensor.elem_type()) + ", it is " +
                         std::string(ElementTypeName(found.element)));
  }
  if (!tensor.has_shape()) return true;
  const auto& dims = tensor.shape().dim();
  bool same = static_cast<size_t>(dims.size()) == found.shape.size();
  for (size_t i = 0; same && i < found.shape.size(); ++i) {
    const auto& dim = dims[static_cast<int>(i)];
    same = !dim.has_dim_value() || dim.dim_value() == found.shape[i];
  }
  if (same) return true;
  std::string shape;
  for (int64_t dim : found.shape) {
    shape += (shape.empty() ? "" : ",") + std::to_string(dim);
  }
  return sink->Add(DiagnosticCode::shape_mismatch, Readable(name),
                   "the file declares shape " + FormatShape(tensor.shape()) +
                       ", it is [" + shape + "]");
}

// One value's type as the graph's.
bool Convert(const std::string& name, const onnx::TypeProto& type,
             const ImportLimits& limits, TensorType* result,
             Diagnostics* sink) {
  if (type.value_case() != onnx::TypeProto::VALUE_NOT_SET &&
      !type.has_tensor_type()) {
    return sink->Add(DiagnosticCode::unsupported_type, Readable(name),
                     "is a sequence, map, optional or sparse tensor");
  }
  if (!IsKnown(type)) {
    const auto& tensor = type.tensor_type();
    return sink->Add(
        DiagnosticCode::dynamic_shape, Readable(name),
        (tensor.has_shape() ? "shape " + FormatShape(tensor.shape())
                            : std::string("the shape")) +
            " cannot be inferred; if it follows from an input's open "
            "dimensions, pass --shape for that input");
  }
  const auto& tensor = type.tensor_type();
  result->element = FromOnnxType(tensor.elem_type());
  if (result->element == ElementType::undefined) {
    return sink->Add(DiagnosticCode::unsupported_type, Readable(name),
                     "element type " + OnnxTypeName(tensor.elem_type()));
  }
  for (const auto& dim : tensor.shape().dim()) {
    result->shape.push_back(dim.dim_value());
  }
  return CheckShape(name, result->element, result->shape, limits, sink);
}

}  // namespace

bool CheckWithOnnx(const onnx::ModelProto& model, const OpsetVersions& versions,
                   Diagnostics* sink) {
  onnx::checker::CheckerContext context;
  context.set_ir_version(static_cast<int>(model.ir_version()));
  context.set_opset_imports({versions.begin(), versions.end()});
  context.set_schema_registry(&SchemaRegistry::Instance());
  return Guarded(DiagnosticCode::model_invalid, sink, [&] {
    onnx::checker::check_graph(model.graph(), context,
                               onnx::checker::LexicalScopeContext());
  });
}

bool InferTypes(const ImportLimits& limits, onnx::ModelProto* model,
                ValueTypes* types, Diagnostics* sink) {
  onnx::GraphProto* graph = model->mutable_graph();
  const TypeMap declared = TakeDeclared(graph);
  if (!RunInference(model, sink)) return false;
  TypeMap inferred = Inferred(*graph);
  const bool all_known = std::all_of(
      graph->node().begin(), graph->node().end(), [&](const auto& node) {
        return std::all_of(node.output().begin(), node.output().end(),
                           [&](const std::string& result) {
                             return result.empty() || IsKnown(inferred[result]);
                           });
      });
  if (!all_known && AddDeclared(declared, inferred, graph)) {
    if (!RunInference(model, sink)) return false;
    inferred = Inferred(*graph);
  }
  const auto take = [&](const std::string& name) {
    TensorType type;
    if (!Convert(name, inferred[name], limits, &type, sink)) return false;
    const auto at = declared.find(name);
    if (at != declared.end() && !CheckDeclared(name, at->second, type, sink)) {
      return false;
    }
    types->emplace(name, std::move(type));
    return true;
  };
  for (const auto& tensor : graph->initializer()) {
    if (!take(tensor.name())) return false;
  }
  for (const auto& input : graph->input()) {
    if (!take(input.name())) return false;
  }
  for (const auto& node : graph->node()) {
    for (const auto& result : node.output()) {
      if (!result.empty() && !take(result)) return false;
    }
  }
  return true;
}

}  // namespace fold::importer
