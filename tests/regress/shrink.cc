#include "tests/regress/shrink.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/import/onnx_importer.h"
#include "compiler/ir/text.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/pipeline.h"
#include "onnx/defs/printer.h"
#include "onnx/shape_inference/implementation.h"
#include "tests/regress/ideal.h"

namespace fold::regress {
namespace {

using onnx::GraphProto;
using onnx::ModelProto;
using onnx::TensorProto;
using Candidates = std::vector<ModelProto>;

void RemoveUnread(GraphProto* graph) {
  std::set<std::string> read;
  for (const auto& output : graph->output()) read.insert(output.name());
  google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
  for (int i = graph->node_size(); i-- > 0;) {
    const onnx::NodeProto& node = graph->node(i);
    const bool is_read =
        std::any_of(node.output().begin(), node.output().end(),
                    [&](const std::string& name) { return read.count(name); });
    if (!is_read) continue;
    read.insert(node.input().begin(), node.input().end());
    // What a branch reads of the graph around it.
    for (const auto& attribute : node.attribute()) {
      for (const auto& inner : attribute.g().node()) {
        read.insert(inner.input().begin(), inner.input().end());
      }
    }
    *kept.Add() = node;
  }
  std::reverse(kept.begin(), kept.end());
  graph->mutable_node()->Swap(&kept);
  const auto drop = [&](auto* list) {
    for (int i = list->size(); i-- > 0;) {
      if (!read.count(list->Get(i).name())) list->DeleteSubrange(i, 1);
    }
  };
  drop(graph->mutable_initializer());
  drop(graph->mutable_input());
}

using Types = std::map<std::string, onnx::ValueInfoProto>;

Types TypesOf(ModelProto model) {
  Types types;
  try {
    onnx::shape_inference::InferShapes(model);
  } catch (const std::exception&) {
    return types;
  }
  for (const auto* list : {&model.graph().value_info(), &model.graph().input(),
                           &model.graph().output()}) {
    for (const auto& info : *list) types[info.name()] = info;
  }
  return types;
}

// Earlier results as the only output, the earliest first; one output less.
Candidates FewerNodes(const ModelProto& model) {
  Candidates candidates;
  const Types types = TypesOf(model);
  for (const auto& node : model.graph().node()) {
    if (node.output_size() == 0 || !types.count(node.output(0))) continue;
    ModelProto smaller = model;
    smaller.mutable_graph()->clear_output();
    *smaller.mutable_graph()->add_output() = types.at(node.output(0));
    RemoveUnread(smaller.mutable_graph());
    if (smaller.graph().node_size() == model.graph().node_size() &&
        model.graph().output_size() == 1) {
      continue;
    }
    candidates.push_back(std::move(smaller));
  }
  for (int i = 0;
       model.graph().output_size() > 1 && i < model.graph().output_size();
       ++i) {
    ModelProto smaller = model;
    smaller.mutable_graph()->mutable_output()->DeleteSubrange(i, 1);
    RemoveUnread(smaller.mutable_graph());
    candidates.push_back(std::move(smaller));
  }
  return candidates;
}

void ReadInstead(const std::string& from, const std::string& to,
                 GraphProto* graph) {
  for (auto& node : *graph->mutable_node()) {
    for (std::string& operand : *node.mutable_input()) {
      if (operand == from) operand = to;
    }
  }
}

// A node's readers read its operand, or an input of the same type.
Candidates ShorterPaths(const ModelProto& model) {
  Candidates candidates;
  const Types types = TypesOf(model);
  for (const auto& node : model.graph().node()) {
    if (node.output_size() != 1) continue;
    const std::string& result = node.output(0);
    for (const std::string& operand : node.input()) {
      if (operand.empty()) continue;
      ModelProto smaller = model;
      ReadInstead(result, operand, smaller.mutable_graph());
      RemoveUnread(smaller.mutable_graph());
      if (smaller.graph().node_size() < model.graph().node_size()) {
        candidates.push_back(std::move(smaller));
      }
    }
    if (!types.count(result)) continue;
    ModelProto smaller = model;
    auto* input = smaller.mutable_graph()->add_input();
    *input = types.at(result);
    input->set_name(result + "_in");
    ReadInstead(result, result + "_in", smaller.mutable_graph());
    RemoveUnread(smaller.mutable_graph());
    if (smaller.graph().node_size() < model.graph().node_size()) {
      candidates.push_back(std::move(smaller));
    }
  }
  // A branch's nodes in place of its If.
  for (int i = 0; i < model.graph().node_size(); ++i) {
    if (model.graph().node(i).op_type() != "If") continue;
    const onnx::NodeProto choice = model.graph().node(i);
    const GraphProto& branch = choice.attribute(0).g();
    ModelProto flat = model;
    flat.mutable_graph()->clear_node();
    for (int k = 0; k < i; ++k) {
      *flat.mutable_graph()->add_node() = model.graph().node(k);
    }
    for (const auto& node : branch.node()) {
      *flat.mutable_graph()->add_node() = node;
    }
    for (int k = i + 1; k < model.graph().node_size(); ++k) {
      *flat.mutable_graph()->add_node() = model.graph().node(k);
    }
    for (int k = 0; k < choice.output_size(); ++k) {
      ReadInstead(choice.output(k), branch.output(k).name(),
                  flat.mutable_graph());
    }
    RemoveUnread(flat.mutable_graph());
    candidates.push_back(std::move(flat));
  }
  return candidates;
}

// A constant's numbers, whatever field they are in.
struct Numbers {
  Shape shape;
  std::vector<double> values;
};

Numbers NumbersOf(const TensorProto& tensor) {
  Numbers numbers;
  numbers.shape.assign(tensor.dims().begin(), tensor.dims().end());
  for (float value : tensor.float_data()) numbers.values.push_back(value);
  for (int64_t value : tensor.int64_data()) {
    numbers.values.push_back(static_cast<double>(value));
  }
  for (int32_t value : tensor.int32_data()) numbers.values.push_back(value);
  if (tensor.has_raw_data()) numbers.values.clear();
  return numbers;
}

void SetNumbers(const Numbers& numbers, TensorProto* tensor) {
  tensor->clear_dims();
  for (int64_t size : numbers.shape) tensor->add_dims(size);
  tensor->clear_float_data();
  tensor->clear_int32_data();
  tensor->clear_int64_data();
  for (double value : numbers.values) {
    if (tensor->data_type() == TensorProto::FLOAT) {
      tensor->add_float_data(static_cast<float>(value));
    } else if (tensor->data_type() == TensorProto::INT64) {
      tensor->add_int64_data(static_cast<int64_t>(value));
    } else {
      tensor->add_int32_data(static_cast<int32_t>(value));
    }
  }
}

// The corner of a constant in which every dimension of `from` is `to`.
Numbers Corner(const Numbers& numbers, int64_t from, int64_t to) {
  Numbers corner;
  corner.shape = numbers.shape;
  std::replace(corner.shape.begin(), corner.shape.end(), from, to);
  for (int64_t i = 0; i < Count(corner.shape); ++i) {
    corner.values.push_back(
        numbers.values[Place(Coordinates(i, corner.shape), numbers.shape)]);
  }
  return corner;
}

// Every dimension of one size gets a smaller one, in constants, inputs and
// constant shapes alike; or an input's alone.
Candidates SmallerDimensions(const ModelProto& model) {
  Candidates candidates;
  std::set<int64_t> sizes;
  for (const auto& input : model.graph().input()) {
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      sizes.insert(dim.dim_value());
    }
  }
  for (const auto& tensor : model.graph().initializer()) {
    sizes.insert(tensor.dims().begin(), tensor.dims().end());
  }
  for (int64_t size : sizes) {
    for (int64_t to : std::set<int64_t>{1, size / 2, size - 1}) {
      if (to < 1 || to >= size) continue;
      for (const bool everywhere : {true, false}) {
        ModelProto smaller = model;
        GraphProto* graph = smaller.mutable_graph();
        for (auto& input : *graph->mutable_input()) {
          auto* shape =
              input.mutable_type()->mutable_tensor_type()->mutable_shape();
          for (auto& dim : *shape->mutable_dim()) {
            if (dim.dim_value() == size) dim.set_dim_value(to);
          }
        }
        for (auto& output : *graph->mutable_output()) {
          auto* shape =
              output.mutable_type()->mutable_tensor_type()->mutable_shape();
          for (auto& dim : *shape->mutable_dim()) dim.clear_dim_value();
        }
        for (auto& tensor : *graph->mutable_initializer()) {
          Numbers numbers = NumbersOf(tensor);
          if (!everywhere || numbers.values.empty()) continue;
          if (tensor.data_type() == TensorProto::INT64) {
            std::replace(numbers.values.begin(), numbers.values.end(),
                         static_cast<double>(size), static_cast<double>(to));
            SetNumbers(numbers, &tensor);
          } else {
            SetNumbers(Corner(numbers, size, to), &tensor);
          }
        }
        candidates.push_back(std::move(smaller));
      }
    }
  }
  return candidates;
}

double NearestPower(double value) {
  return value > 0 ? std::exp2(std::round(std::log2(value))) : value;
}

// Simpler numbers in one constant, the simplest first.
Candidates SimplerConstants(const ModelProto& model) {
  Candidates candidates;
  for (int i = 0; i < model.graph().initializer_size(); ++i) {
    const TensorProto& tensor = model.graph().initializer(i);
    const Numbers numbers = NumbersOf(tensor);
    if (numbers.values.empty() || tensor.data_type() == TensorProto::INT64) {
      continue;
    }
    const auto add = [&](const Numbers& simpler) {
      if (simpler.values == numbers.values && simpler.shape == numbers.shape) {
        return;
      }
      ModelProto smaller = model;
      SetNumbers(simpler, smaller.mutable_graph()->mutable_initializer(i));
      candidates.push_back(std::move(smaller));
    };
    const bool is_float = tensor.data_type() == TensorProto::FLOAT;
    const auto all = [&](double value) {
      Numbers simpler = numbers;
      std::fill(simpler.values.begin(), simpler.values.end(), value);
      return simpler;
    };
    if (numbers.shape.size() == 1) add({{}, {numbers.values[0]}});
    add(all(is_float ? 1 : 0));
    add(all(numbers.values[0]));
    for (const bool second : {false, true}) {
      Numbers half = numbers;
      const size_t middle = half.values.size() / 2;
      for (size_t k = 0; k < half.values.size(); ++k) {
        if ((k >= middle) == second) half.values[k] = is_float ? 1 : 0;
      }
      add(half);
    }
    Numbers round = numbers;
    for (double& value : round.values) {
      value = is_float ? NearestPower(value) : std::trunc(value / 2);
    }
    add(round);
  }
  return candidates;
}

// One attribute, or the last operand of a node, less.
Candidates FewerParts(const ModelProto& model) {
  Candidates candidates;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const onnx::NodeProto& node = model.graph().node(i);
    if (node.op_type() == "If") continue;
    for (int k = 0; k < node.attribute_size(); ++k) {
      ModelProto smaller = model;
      smaller.mutable_graph()
          ->mutable_node(i)
          ->mutable_attribute()
          ->DeleteSubrange(k, 1);
      candidates.push_back(std::move(smaller));
    }
    if (node.input_size() < 2) continue;
    ModelProto smaller = model;
    smaller.mutable_graph()->mutable_node(i)->mutable_input()->RemoveLast();
    RemoveUnread(smaller.mutable_graph());
    candidates.push_back(std::move(smaller));
  }
  return candidates;
}

// What must become less with every step, the weightiest first: nodes, elements,
// attributes and operands, and how much there is to say about the numbers.
using Weight = std::array<double, 4>;

void AddNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
              Weight* weight) {
  for (const auto& node : nodes) {
    (*weight)[0] += 1;
    (*weight)[2] += node.attribute_size() + node.input_size();
    for (const auto& attribute : node.attribute()) {
      AddNodes(attribute.g().node(), weight);
    }
  }
}

Weight WeightOf(const ModelProto& model) {
  Weight weight = {};
  AddNodes(model.graph().node(), &weight);
  weight[2] += model.graph().output_size();
  for (const auto& input : model.graph().input()) {
    Shape shape;
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      shape.push_back(dim.dim_value());
    }
    weight[1] += static_cast<double>(Count(shape));
  }
  for (const auto& tensor : model.graph().initializer()) {
    const Numbers numbers = NumbersOf(tensor);
    const std::set<double> distinct(numbers.values.begin(),
                                    numbers.values.end());
    weight[1] += static_cast<double>(Count(numbers.shape));
    weight[2] += static_cast<double>(numbers.shape.size());
    weight[3] += static_cast<double>(distinct.size());
    for (double value : numbers.values) {
      const bool round = value == NearestPower(value);
      weight[3] += tensor.data_type() != TensorProto::FLOAT
                       ? std::log2(std::abs(value) + 1)
                   : value == 1 ? 0
                   : round      ? 1
                                : 3;
    }
  }
  return weight;
}

}  // namespace

ModelProto Shrink(const ModelProto& model, const StillFails& fails,
                  int most_questions) {
  using Step = Candidates (*)(const ModelProto&);
  constexpr Step kSteps[] = {FewerNodes, ShorterPaths, SmallerDimensions,
                             FewerParts, SimplerConstants};
  ModelProto best = model;
  bool again = true;
  while (again) {
    again = false;
    for (const Step step : kSteps) {
      // From the start of the list again after a success, as the rest of it
      // was made from what is gone.
      bool found = true;
      while (found && most_questions > 0) {
        found = false;
        for (ModelProto& candidate : step(best)) {
          if (WeightOf(candidate) >= WeightOf(best)) continue;
          if (most_questions-- <= 0) break;
          if (!fails(candidate)) continue;
          best = std::move(candidate);
          found = again = true;
          break;
        }
      }
    }
  }
  return best;
}

std::string GoldenBlock(const ModelProto& model, const std::string& name) {
  std::string text;
  const std::string bytes = model.SerializeAsString();
  Graph graph;
  Diagnostics sink;
  if (ImportOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                 {}, &graph, &sink)) {
    text += "# RUN: ";
    for (const std::string& pass : StandardPipeline()) {
      text += (pass == StandardPipeline()[0] ? "" : ",") + pass;
    }
    text += "\n# --- " + name + "\n" + Print(graph, Ops());
  }
  return text + "# As ONNX text:\n" + onnx::ProtoToString(model.graph()) + "\n";
}

}  // namespace fold::regress
