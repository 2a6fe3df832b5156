#include "compiler/import/shape_binding.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "compiler/import/labels.h"

namespace fold::importer {
namespace {

using DimensionNames = std::map<std::string, int64_t>;

bool BadFlag(Diagnostics* sink, const std::string& input,
             const std::string& what) {
  return sink->Add(DiagnosticCode::bad_shape_flag, Readable(input), what);
}

onnx::ValueInfoProto* FindInput(onnx::GraphProto* graph,
                                const std::string& name) {
  for (onnx::ValueInfoProto& input : *graph->mutable_input()) {
    if (input.name() == name) return &input;
  }
  return nullptr;
}

std::string InputNames(const onnx::GraphProto& graph) {
  std::string names;
  for (const auto& input : graph.input()) {
    if (names.size() > 300) return names + ", ...";
    names += (names.empty() ? "" : ", ") + Readable(input.name());
  }
  return names;
}

// Binds one input; `names` collects what its dimension names stand for.
bool BindInput(const std::string& name, const Shape& shape,
               onnx::ValueInfoProto* input, DimensionNames* names,
               Diagnostics* sink) {
  auto* tensor = input->mutable_type()->mutable_tensor_type();
  const bool shapeless = !tensor->has_shape();
  auto* dims = tensor->mutable_shape();
  if (shapeless) {
    for (size_t i = 0; i < shape.size(); ++i) dims->add_dim();
  }
  if (static_cast<size_t>(dims->dim_size()) != shape.size()) {
    return BadFlag(sink, name,
                   std::to_string(shape.size()) +
                       " dimensions given; the input's shape is " +
                       FormatShape(*dims));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    auto* dim = dims->mutable_dim(static_cast<int>(i));
    const std::string where = "dimension " + std::to_string(i) + " ";
    if (shape[i] <= 0) {
      return BadFlag(
          sink, name,
          where + "is " + std::to_string(shape[i]) + "; it must be positive");
    }
    if (dim->has_dim_value() && dim->dim_value() != shape[i]) {
      return BadFlag(sink, name,
                     where + "is " + std::to_string(shape[i]) +
                         "; the model fixes it to " +
                         std::to_string(dim->dim_value()));
    }
    if (!dim->dim_param().empty()) {
      const auto [at, fresh] = names->emplace(dim->dim_param(), shape[i]);
      if (!fresh && at->second != shape[i]) {
        return BadFlag(sink, name,
                       where + "is '" + Readable(dim->dim_param()) +
                           "', which is bound to " +
                           std::to_string(at->second) + " and " +
                           std::to_string(shape[i]));
      }
    }
    dim->set_dim_value(shape[i]);
  }
  return true;
}

void Substitute(const DimensionNames& names, onnx::ValueInfoProto* info) {
  auto* type = info->mutable_type();
  if (!type->has_tensor_type() || !type->tensor_type().has_shape()) return;
  for (auto& dim :
       *type->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    const auto at = names.find(dim.dim_param());
    if (!dim.has_dim_value() && at != names.end()) {
      dim.set_dim_value(at->second);
    }
  }
}

bool CheckClosed(const onnx::ValueInfoProto& input, Diagnostics* sink) {
  const auto& tensor = input.type().tensor_type();
  const auto& dims = tensor.shape().dim();
  const bool closed =
      tensor.has_shape() &&
      std::all_of(dims.begin(), dims.end(),
                  [](const auto& dim) { return dim.has_dim_value(); });
  if (closed) return true;
  const std::string name = Readable(input.name());
  return sink->Add(DiagnosticCode::dynamic_shape, name,
                   tensor.has_shape()
                       ? "the shape " + FormatShape(tensor.shape()) +
                             " has open dimensions; pass --shape " + name +
                             "=... with all of them"
                       : "has no shape; pass --shape " + name + "=...");
}

}  // namespace

bool BindShapes(const std::vector<std::pair<std::string, Shape>>& shapes,
                onnx::GraphProto* graph, Diagnostics* sink) {
  DimensionNames names;
  std::set<std::string> bound;
  for (const auto& [name, shape] : shapes) {
    onnx::ValueInfoProto* input = FindInput(graph, name);
    if (input == nullptr) {
      return BadFlag(
          sink, name,
          "the model has no such input; it has " + InputNames(*graph));
    }
    if (!bound.insert(name).second) {
      return BadFlag(sink, name, "is given twice");
    }
    if (!BindInput(name, shape, input, &names, sink)) return false;
  }
  bool good = true;
  for (onnx::ValueInfoProto& input : *graph->mutable_input()) {
    Substitute(names, &input);
    good = CheckClosed(input, sink) && good;
  }
  for (auto& info : *graph->mutable_output()) Substitute(names, &info);
  for (auto& info : *graph->mutable_value_info()) Substitute(names, &info);
  return good;
}

}  // namespace fold::importer
