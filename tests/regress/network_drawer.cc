#include "tests/regress/network_drawer.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace fold::regress {
namespace {

using onnx::AttributeProto;
using onnx::TensorProto;

constexpr int64_t kMostElements = 300;  // of a value: evaluation is exact

}  // namespace

// Powers of two meet ties, decimals come near them, the rest hardly ever.
float NetworkDrawer::DrawScale(double about) {
  switch (Below(3)) {
    case 0:
      return static_cast<float>(std::ldexp(1.0, std::ilogb(about)));
    case 1: {
      const double decade = std::pow(10.0, std::floor(std::log10(about)));
      return static_cast<float>((1 + Below(9)) * decade);
    }
    default:
      return static_cast<float>(about * (0.5 + Below(1000) / 1000.0));
  }
}

int32_t NetworkDrawer::DrawType() {
  return Chance(50) ? TensorProto::INT8 : TensorProto::UINT8;
}

NetworkDrawer::Scheme NetworkDrawer::DrawScheme(int32_t type, double* reach) {
  const float scale = DrawScale(*reach / 128 * (0.4 + Below(80) / 100.0));
  // Often in the middle or at an end, else anywhere.
  const int64_t low = type == TensorProto::INT8 ? -128 : 0;
  const int64_t zero = low + (Chance(50)   ? 128
                              : Chance(40) ? 255 * Below(2)
                                           : Below(256));
  *reach = static_cast<double>(
               std::max(std::abs(low - zero), std::abs(low + 255 - zero))) *
           scale;
  return {Floats("scale", {}, {scale}), Integers("zero", type, {}, {zero}),
          type};
}

NetworkDrawer::Real NetworkDrawer::Input(const Shape& shape) {
  Real x = {Name("input"), shape, 4};
  if (Chance(20)) {
    const int32_t type = DrawType();
    AddInput(x.name, type, x.shape);
    const Scheme scheme = DrawScheme(type, &x.reach);
    values_.push_back(Dequantized(x.name, x.shape, scheme, x.reach));
    return values_.back();
  }
  AddInput(x.name, TensorProto::FLOAT, x.shape);
  if (Chance(20)) x = Tail(x, false);
  if (Chance(15)) x = Move(x);
  return Quantized(x);
}

NetworkDrawer::Real NetworkDrawer::Dequantized(const std::string& codes,
                                               const Shape& shape,
                                               const Scheme& scheme,
                                               double reach) {
  auto* node = AddNode("DequantizeLinear", {codes, scheme.scale, scheme.zero});
  return {node->output(0), shape, reach, true, codes, scheme};
}

NetworkDrawer::Real NetworkDrawer::Quantized(const Real& value) {
  double reach = value.reach;
  Scheme scheme;
  if (value.is_quantized && !value.codes.empty() && Chance(30)) {
    scheme = value.scheme;  // the same scale and zero point again
    ++shared_;
  } else {
    scheme = DrawScheme(DrawType(), &reach);
  }
  auto* quantize =
      AddNode("QuantizeLinear", {value.name, scheme.scale, scheme.zero});
  std::string codes = quantize->output(0);
  if (Chance(10)) {
    const int64_t low = scheme.type == TensorProto::INT8 ? -128 : 0;
    const int64_t middle = low + 8 + Below(232);
    codes =
        AddNode("Clip", {codes, Integers("low", scheme.type, {}, {middle - 8}),
                         Integers("high", scheme.type, {}, {middle + 15})})
            ->output(0);
  }
  values_.push_back(Dequantized(codes, value.shape, scheme, reach));
  return values_.back();
}

NetworkDrawer::Scheme NetworkDrawer::WeightScheme(const Shape& shape, int axis,
                                                  int32_t type,
                                                  Stored* weights) {
  const bool per_axis = axis >= 0 && Chance(50);
  const bool is_signed = type == TensorProto::INT8;
  const int64_t count = per_axis ? shape[axis] : 1;
  std::vector<float> scales;
  std::vector<int64_t> zeros;
  for (int64_t i = 0; i < count; ++i) {
    scales.push_back(DrawScale(0.01));
    zeros.push_back(is_signed ? (Chance(60) ? 0 : Below(256) - 128)
                              : Below(256));
  }
  weights->reach = 128 * *std::max_element(scales.begin(), scales.end());
  weights->axis = per_axis ? axis : -1;
  const Shape parameter = per_axis ? Shape{count} : Shape{};
  return {Floats("wscale", parameter, scales),
          Integers("wzero", type, parameter, zeros), type};
}

NetworkDrawer::Stored NetworkDrawer::SharedWeights(const Shape& shape,
                                                   int axis) {
  std::vector<Stored> same, turned;
  const Shape reversed(shape.rbegin(), shape.rend());
  for (const Stored& stored : weights_) {
    if (stored.shape == shape) same.push_back(stored);
    if (shape.size() == 2 && stored.shape == reversed) turned.push_back(stored);
  }
  Stored found;
  if (!turned.empty() && Chance(50)) {
    found = turned[Below(static_cast<int>(turned.size()))];
    // A scale belongs to the result's channels, as everywhere here.
    if (found.axis >= 0 && found.axis == axis) return {};
    found.real = AddNode("Transpose", {found.real})->output(0);
    found.codes.clear();
  } else if (!same.empty()) {
    found = same[Below(static_cast<int>(same.size()))];
    if (Chance(40) || (found.axis >= 0 && found.axis != axis)) {
      found.scheme = WeightScheme(shape, axis, found.scheme.type, &found);
      auto* node = AddNode("DequantizeLinear", {found.codes, found.scheme.scale,
                                                found.scheme.zero});
      if (found.axis >= 0) Set(node, "axis", found.axis);
      found.real = node->output(0);
    }
  }
  shared_ += !found.real.empty();
  return found;
}

NetworkDrawer::Stored NetworkDrawer::NewWeights(const Shape& shape, int axis) {
  Stored w;
  w.shape = shape;
  const int32_t type = Chance(75) ? TensorProto::INT8 : TensorProto::UINT8;
  w.scheme = WeightScheme(shape, axis, type, &w);
  std::vector<int64_t> codes;
  for (int64_t i = 0; i < Count(shape); ++i) {
    codes.push_back(Below(256) - (type == TensorProto::INT8 ? 128 : 0));
  }
  if (w.axis < 0 && Chance(20)) {  // float weights behind a QuantizeLinear
    std::vector<float> reals;
    reals.reserve(codes.size());
    for (int64_t code : codes) {
      reals.push_back(static_cast<float>(code) *
                      static_cast<float>(w.reach / 128) * 0.97f);
    }
    w.codes = AddNode("QuantizeLinear", {Floats("w", shape, reals),
                                         w.scheme.scale, w.scheme.zero})
                  ->output(0);
  } else {
    w.codes = Integers("w", type, shape, codes);
  }
  auto* node =
      AddNode("DequantizeLinear", {w.codes, w.scheme.scale, w.scheme.zero});
  if (w.axis >= 0) Set(node, "axis", w.axis);
  w.real = node->output(0);
  weights_.push_back(w);
  return w;
}

NetworkDrawer::Stored NetworkDrawer::Weights(const Shape& shape, int axis) {
  if (Chance(50)) {
    Stored shared = SharedWeights(shape, axis);
    if (!shared.real.empty()) return shared;
  }
  return NewWeights(shape, axis);
}

void NetworkDrawer::AddOutputs(const Real& last) {
  AddOutput(last.name, TensorProto::FLOAT, last.shape);
  if (Chance(15) && !last.codes.empty()) {
    AddOutput(last.codes, last.scheme.type, last.shape);
  }
  const Real& other = values_[Below(static_cast<int>(values_.size()))];
  if (Chance(15) && other.name != last.name) {
    AddOutput(other.name, TensorProto::FLOAT, other.shape);
  }
  if (!weights_.empty() && Chance(10)) {
    const Stored& w = weights_[Below(static_cast<int>(weights_.size()))];
    AddOutput(w.real, TensorProto::FLOAT, w.shape);
    ++shared_;
  }
}

void NetworkDrawer::MoveIntoBranch() {
  const int count = graph()->node_size();
  const int from = Below(count), to = from + 1 + Below(count - from);
  std::set<std::string> read;  // by the rest
  for (const auto& output : graph()->output()) read.insert(output.name());
  for (int i = to; i < count; ++i) {
    read.insert(graph()->node(i).input().begin(),
                graph()->node(i).input().end());
  }
  const std::string condition = Name("condition");
  Integers(condition, TensorProto::BOOL, {}, {0});
  auto* initializer =
      graph()->mutable_initializer(graph()->initializer_size() - 1);
  initializer->set_name(condition);
  const bool negate = Chance(50);
  initializer->set_int32_data(0, !negate);
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  nodes.Swap(graph()->mutable_node());
  for (int i = 0; i < from; ++i) *graph()->add_node() = nodes[i];
  std::string decides = condition;
  if (negate) decides = AddNode("Not", {condition})->output(0);
  onnx::NodeProto* choice = graph()->add_node();
  choice->set_op_type("If");
  choice->set_name(Name("If_"));
  choice->add_input(decides);
  for (const char* key : {"then_branch", "else_branch"}) {
    auto* attribute = choice->add_attribute();
    attribute->set_name(key);
    attribute->set_type(AttributeProto::GRAPH);
    attribute->mutable_g()->set_name(key);
  }
  auto* taken = choice->mutable_attribute(0)->mutable_g();
  auto* other = choice->mutable_attribute(1)->mutable_g();
  for (int i = from; i < to; ++i) {
    onnx::NodeProto* node = taken->add_node();
    *node = nodes[i];
    const std::string result = node->output(0);
    if (!read.count(result)) continue;
    // A name of its own inside, and one outside.
    choice->add_output(result);
    taken->add_output()->set_name("inner_" + result);
    other->add_output()->set_name("other_" + result);
    auto* never = other->add_node();
    never->set_op_type("Identity");
    never->add_input(decides);
    never->add_output("other_" + result);
    for (int k = from; k < to; ++k) {
      for (std::string& operand : *nodes.Mutable(k)->mutable_input()) {
        if (operand == result) operand = "inner_" + result;
      }
    }
    node->set_output(0, "inner_" + result);
  }
  for (int i = to; i < count; ++i) *graph()->add_node() = nodes[i];
}

onnx::ModelProto NetworkDrawer::Draw() {
  const Shape shapes[] = {{1, 3, 5, 5}, {2, 4, 6}, {3, 8},
                          {1, 4, 4, 6}, {1, 6},    {1, 2, 7, 4}};
  const Shape& shape = shapes[Below(6)];
  Real x = Input(shape);
  if (Chance(20)) x = Input(shape);
  for (int steps = 1 + Below(5); steps > 0; --steps) {
    Real y = Step(x);
    if (Count(y.shape) > kMostElements) y = Mean(x);
    // Now and then movement is between two operators with no quantization.
    x = Chance(90) || !y.is_quantized ? Quantized(y) : y;
  }
  AddOutputs(x);
  if (Chance(12)) MoveIntoBranch();
  return model();
}

}  // namespace fold::regress
