#include "tests/regress/network_drawer.h"

#include <algorithm>
#include <cmath>

namespace fold::regress {
namespace {

using onnx::AttributeProto;
using onnx::TensorProto;

constexpr int64_t kMostElements = 400;  // of a value: evaluation is exact

onnx::ValueInfoProto ValueOf(const std::string& name, int32_t type,
                             const Shape& shape) {
  onnx::ValueInfoProto value;
  value.set_name(name);
  auto* tensor = value.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (int64_t size : shape) {
    tensor->mutable_shape()->add_dim()->set_dim_value(size);
  }
  return value;
}

}  // namespace

onnx::NodeProto* NetworkDrawer::AddNode(
    const std::string& op, const std::vector<std::string>& inputs) {
  onnx::NodeProto* node = graph_->add_node();
  node->set_op_type(op);
  node->set_name(Name(op + "_"));
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(Name("v"));
  return node;
}

std::string NetworkDrawer::Floats(const std::string& stem, const Shape& shape,
                                  const std::vector<float>& values) {
  TensorProto* tensor = graph_->add_initializer();
  tensor->set_name(Name(stem));
  tensor->set_data_type(TensorProto::FLOAT);
  for (int64_t size : shape) tensor->add_dims(size);
  for (float value : values) tensor->add_float_data(value);
  return tensor->name();
}

std::string NetworkDrawer::Integers(const std::string& stem, int32_t type,
                                    const Shape& shape,
                                    const std::vector<int64_t>& values) {
  TensorProto* tensor = graph_->add_initializer();
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

void NetworkDrawer::Set(onnx::NodeProto* node, const std::string& key,
                        int64_t value) {
  AttributeProto* attribute = node->add_attribute();
  attribute->set_name(key);
  attribute->set_type(AttributeProto::INT);
  attribute->set_i(value);
}

void NetworkDrawer::Set(onnx::NodeProto* node, const std::string& key,
                        const std::vector<int64_t>& values) {
  AttributeProto* attribute = node->add_attribute();
  attribute->set_name(key);
  attribute->set_type(AttributeProto::INTS);
  for (int64_t value : values) attribute->add_ints(value);
}

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

NetworkDrawer::Real NetworkDrawer::Input() {
  const Shape shapes[] = {{1, 3, 5, 5}, {2, 4, 6}, {3, 8},
                          {1, 4, 4, 6}, {1, 6},    {1, 2, 7, 4}};
  Real x = {Name("input"), shapes[Below(6)], 4};
  if (Chance(20)) {
    const bool is_signed = Chance(50);
    const int32_t type = is_signed ? TensorProto::INT8 : TensorProto::UINT8;
    *graph_->add_input() = ValueOf(x.name, type, x.shape);
    const float scale = DrawScale(0.05);
    const int64_t zero = Below(256) - (is_signed ? 128 : 0);
    auto* node =
        AddNode("DequantizeLinear", {x.name, Floats("scale", {}, {scale}),
                                     Integers("zero", type, {}, {zero})});
    x = {node->output(0), x.shape, 128.0 * scale, true};
    values_.push_back(x);
    return x;
  }
  *graph_->add_input() = ValueOf(x.name, TensorProto::FLOAT, x.shape);
  if (Chance(20)) x = Tail(x, false);
  if (Chance(15)) x = Move(x);
  return Quantized(x);
}

NetworkDrawer::Real NetworkDrawer::Quantized(const Real& value) {
  const bool is_signed = Chance(50);
  const int32_t type = is_signed ? TensorProto::INT8 : TensorProto::UINT8;
  const float scale = DrawScale(value.reach / 128 * (0.4 + Below(80) / 100.0));
  // Often in the middle or at an end, else anywhere.
  const int64_t low = is_signed ? -128 : 0;
  const int64_t zero = low + (Chance(50)   ? 128
                              : Chance(40) ? 255 * Below(2)
                                           : Below(256));
  const std::string s = Floats("scale", {}, {scale});
  const std::string z = Integers("zero", type, {}, {zero});
  auto* quantize = AddNode("QuantizeLinear", {value.name, s, z});
  std::string codes = quantize->output(0);
  if (Chance(10)) {
    const int64_t middle = std::clamp<int64_t>(zero, low + 8, low + 240);
    codes = AddNode("Clip", {codes, Integers("low", type, {}, {middle - 8}),
                             Integers("high", type, {}, {middle + 15})})
                ->output(0);
  }
  auto* dequantize = AddNode("DequantizeLinear", {codes, s, z});
  const double reach =
      std::max(std::abs(low - zero), std::abs(low + 255 - zero)) * scale;
  const Real real = {dequantize->output(0), value.shape, reach, true};
  values_.push_back(real);
  return real;
}

std::string NetworkDrawer::Weights(const Shape& shape, int axis,
                                   double* reach) {
  const bool is_signed = Chance(75);
  const int32_t type = is_signed ? TensorProto::INT8 : TensorProto::UINT8;
  const bool per_axis = axis >= 0 && Chance(50);
  const int64_t count = per_axis ? shape[axis] : 1;
  std::vector<float> scales;
  std::vector<int64_t> zeros, codes;
  for (int64_t i = 0; i < count; ++i) {
    scales.push_back(DrawScale(0.01));
    zeros.push_back(is_signed ? (Chance(60) ? 0 : Below(256) - 128)
                              : Below(256));
  }
  for (int64_t i = 0; i < Count(shape); ++i) {
    codes.push_back(Below(256) - (is_signed ? 128 : 0));
  }
  *reach = 128 * *std::max_element(scales.begin(), scales.end());
  const Shape parameter = per_axis ? Shape{count} : Shape{};
  const std::string s = Floats("wscale", parameter, scales);
  const std::string z = Integers("wzero", type, parameter, zeros);
  std::string w;
  if (!per_axis && Chance(20)) {  // float weights behind a QuantizeLinear
    std::vector<float> reals;
    for (int64_t code : codes) {
      reals.push_back(static_cast<float>(code - zeros[0]) * scales[0] * 0.97f);
    }
    w = AddNode("QuantizeLinear", {Floats("w", shape, reals), s, z})->output(0);
  } else {
    w = Integers("w", type, shape, codes);
  }
  auto* node = AddNode("DequantizeLinear", {w, s, z});
  if (per_axis) Set(node, "axis", axis);
  return node->output(0);
}

// Steps between an operator and the next quantization.
NetworkDrawer::Real NetworkDrawer::Tail(const Real& x, bool linear) {
  Real y = x;
  for (int steps = Below(3); steps > 0; --steps) {
    const int kind = Below(linear ? 5 : 3);
    if (kind == 0) {
      y.name = AddNode("Relu", {y.name})->output(0);
    } else if (kind == 1) {
      const float low = static_cast<float>(-y.reach * Below(100) / 300);
      const float high = static_cast<float>(y.reach * (1 + Below(100)) / 200);
      y.name = AddNode("Clip", {y.name, Floats("low", {}, {low}),
                                Floats("high", {}, {high})})
                   ->output(0);
    } else if (kind == 2) {
      const float factor = static_cast<float>(1 + Below(300)) / 100;
      const bool divide = Chance(50);
      y.name = AddNode(divide ? "Div" : "Mul",
                       {y.name, Floats("factor", {}, {factor})})
                   ->output(0);
      y.reach *= divide ? 1 / factor : factor;
    } else {
      const bool last = y.shape.size() <= 2;
      const int64_t channels = last ? y.shape.back() : y.shape[1];
      Shape shape(last ? 1 : y.shape.size() - 1, 1);
      shape[0] = channels;
      std::vector<float> values;
      for (int64_t c = 0; c < channels; ++c) {
        values.push_back(
            static_cast<float>(y.reach * (Below(200) - 100) / 300));
      }
      y.name = AddNode(kind == 3 ? "Add" : "Sub",
                       {y.name, Floats("offset", shape, values)})
                   ->output(0);
    }
  }
  return y;
}

NetworkDrawer::Real NetworkDrawer::Conv(const Real& x) {
  const size_t spatial = x.shape.size() - 2;
  const int64_t channels = x.shape[1];
  const int64_t group = Chance(25) ? channels : 1;
  const int64_t outputs = group * (1 + Below(group > 1 ? 2 : 4));
  Shape kernel, strides, dilations, pads, shape = {x.shape[0], outputs};
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t size = x.shape[d + 2];
    kernel.push_back(1 + Below(static_cast<int>(std::min<int64_t>(size, 3))));
    dilations.push_back(kernel[d] == 2 && size > 3 ? 1 + Below(2) : 1);
    strides.push_back(1 + Below(2));
    pads.push_back(Below(2));
  }
  for (size_t d = 0; d < spatial; ++d) pads.push_back(Below(2));
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t reach = (kernel[d] - 1) * dilations[d] + 1;
    shape.push_back((x.shape[d + 2] + pads[d] + pads[d + spatial] - reach) /
                        strides[d] +
                    1);
  }
  Shape w = {outputs, channels / group};
  w.insert(w.end(), kernel.begin(), kernel.end());
  double weight = 1;
  std::vector<std::string> inputs = {x.name, Weights(w, 0, &weight)};
  const double depth = static_cast<double>(Count(w) / outputs);
  const double reach = x.reach * weight * std::sqrt(depth) / 3;
  if (Chance(50)) {
    std::vector<float> bias;
    for (int64_t c = 0; c < outputs; ++c) {
      bias.push_back(static_cast<float>(reach * (Below(200) - 100) / 400));
    }
    inputs.push_back(Floats("bias", {outputs}, bias));
  }
  auto* node = AddNode("Conv", inputs);
  Set(node, "pads", pads);
  Set(node, "strides", strides);
  Set(node, "dilations", dilations);
  Set(node, "group", group);
  Real y = {node->output(0), shape, reach};
  if (!Chance(25)) return Tail(y, true);
  std::vector<float> parameters[4];
  for (int64_t c = 0; c < outputs; ++c) {
    parameters[0].push_back(static_cast<float>(Below(400) - 200) / 100);
    parameters[1].push_back(static_cast<float>(Below(200) - 100) / 100);
    parameters[2].push_back(static_cast<float>(Below(200) - 100) / 50);
    parameters[3].push_back(static_cast<float>(1 + Below(400)) / 100);
  }
  inputs = {y.name};
  for (const auto& values : parameters) {
    inputs.push_back(Floats("bn", {outputs}, values));
  }
  y.name = AddNode("BatchNormalization", inputs)->output(0);
  return Tail(y, false);
}

NetworkDrawer::Real NetworkDrawer::Dense(const Real& x) {
  const int64_t depth = x.shape.back(), outputs = 1 + Below(6);
  const bool gemm = x.shape.size() == 2 && Chance(60);
  const bool transposed = gemm && Chance(50);
  double weight = 1;
  const Shape w = transposed ? Shape{outputs, depth} : Shape{depth, outputs};
  std::vector<std::string> inputs = {x.name,
                                     Weights(w, transposed ? 0 : 1, &weight)};
  const double reach =
      x.reach * weight * std::sqrt(static_cast<double>(depth)) / 3;
  if (gemm && Chance(50)) {
    std::vector<int64_t> bias;
    for (int64_t c = 0; c < outputs; ++c) bias.push_back(Below(2000) - 1000);
    const std::string s =
        Floats("bscale", {}, {static_cast<float>(reach / 2000)});
    inputs.push_back(
        AddNode("DequantizeLinear",
                {Integers("bias", TensorProto::INT32, {outputs}, bias), s})
            ->output(0));
  }
  auto* node = AddNode(gemm ? "Gemm" : "MatMul", inputs);
  if (gemm) Set(node, "transB", transposed);
  Real y = {node->output(0), x.shape, reach};
  y.shape.back() = outputs;
  return Tail(y, true);
}

NetworkDrawer::Real NetworkDrawer::Pair(const Real& x) {
  std::vector<Real> fitting;
  for (const Real& value : values_) {
    if (value.shape == x.shape) fitting.push_back(value);
  }
  const Real& other = fitting[Below(static_cast<int>(fitting.size()))];
  const char* const ops[] = {"Add", "Mul", "Sub"};
  const int kind = Below(3);
  Real y = {
      AddNode(ops[kind], {x.name, other.name})->output(0), x.shape,
      kind == 1 ? x.reach * other.reach / 2 : (x.reach + other.reach) / 1.5};
  return Tail(y, false);
}

NetworkDrawer::Real NetworkDrawer::Pool(const Real& x) {
  const size_t spatial = x.shape.size() - 2;
  if (Chance(25)) {
    Real y = {AddNode("GlobalAveragePool", {x.name})->output(0), x.shape,
              x.reach / 2};
    std::fill(y.shape.begin() + 2, y.shape.end(), 1);
    return y;
  }
  Shape kernel, strides, pads(2 * spatial), shape = {x.shape[0], x.shape[1]};
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t size = x.shape[d + 2];
    kernel.push_back(1 + Below(static_cast<int>(std::min<int64_t>(size, 3))));
    strides.push_back(1 + Below(2));
    if (kernel[d] > 1) {
      pads[d] = Below(2);
      pads[d + spatial] = Below(2);
    }
    shape.push_back(
        (size + pads[d] + pads[d + spatial] - kernel[d]) / strides[d] + 1);
  }
  const bool max = Chance(50);
  auto* node = AddNode(max ? "MaxPool" : "AveragePool", {x.name});
  Set(node, "kernel_shape", kernel);
  Set(node, "strides", strides);
  Set(node, "pads", pads);
  if (!max) Set(node, "count_include_pad", Below(2));
  return {node->output(0), shape, x.reach};
}

NetworkDrawer::Real NetworkDrawer::Mean(const Real& x) {
  const int64_t axis = Below(static_cast<int>(x.shape.size()));
  const bool keep = Chance(50) || x.shape.size() < 3;
  auto* node = AddNode("ReduceMean", {x.name});
  Set(node, "axes", std::vector<int64_t>{axis});
  Set(node, "keepdims", keep);
  Real y = {node->output(0), x.shape, x.reach};
  if (keep) {
    y.shape[axis] = 1;
  } else {
    y.shape.erase(y.shape.begin() + axis);
  }
  return y;
}

NetworkDrawer::Real NetworkDrawer::Move(const Real& x) {
  Real y = x;
  const auto rank = static_cast<int64_t>(x.shape.size());
  switch (Below(4)) {
    case 0: {
      std::vector<int64_t> perm(rank);
      for (int64_t d = 0; d < rank; ++d) perm[d] = d;
      for (int64_t d = rank; d-- > 1;) {
        std::swap(perm[d], perm[Below(static_cast<int>(d + 1))]);
      }
      auto* node = AddNode("Transpose", {x.name});
      Set(node, "perm", perm);
      for (int64_t d = 0; d < rank; ++d) y.shape[d] = x.shape[perm[d]];
      y.name = node->output(0);
      break;
    }
    case 1: {
      y.shape = {x.shape[0], Count(x.shape) / x.shape[0]};
      y.name = AddNode("Flatten", {x.name})->output(0);
      break;
    }
    case 2: {
      y.shape = {x.shape[0] * x.shape[1],
                 Count(x.shape) / x.shape[0] / x.shape[1]};
      if (Chance(50)) y.shape.insert(y.shape.begin(), 1);
      y.name = AddNode("Reshape",
                       {x.name, Integers("shape", TensorProto::INT64,
                                         {static_cast<int64_t>(y.shape.size())},
                                         y.shape)})
                   ->output(0);
      break;
    }
    default: {
      if (rank > 3) return x;
      const int64_t axis = Below(static_cast<int>(rank + 1));
      y.shape.insert(y.shape.begin() + axis, 1);
      y.name =
          AddNode("Unsqueeze",
                  {x.name, Integers("axes", TensorProto::INT64, {1}, {axis})})
              ->output(0);
    }
  }
  y.is_quantized = false;
  return y;
}

NetworkDrawer::Real NetworkDrawer::Pad(const Real& x) {
  Shape pads(2 * x.shape.size());
  Real y = x;
  y.is_quantized = false;
  for (size_t d = 1; d < x.shape.size(); ++d) {
    pads[d] = Below(2);
    pads[d + x.shape.size()] = Below(2);
    y.shape[d] += pads[d] + pads[d + x.shape.size()];
  }
  y.name = AddNode("Pad", {x.name,
                           Integers("pads", TensorProto::INT64,
                                    {static_cast<int64_t>(pads.size())}, pads)})
               ->output(0);
  return y;
}

NetworkDrawer::Real NetworkDrawer::Join(const Real& x) {
  const Real& other = values_[Below(static_cast<int>(values_.size()))];
  int64_t axis = -1;
  bool fits = other.shape.size() == x.shape.size();
  for (size_t d = 0; fits && d < x.shape.size(); ++d) {
    if (other.shape[d] == x.shape[d]) continue;
    fits = axis < 0;
    axis = static_cast<int64_t>(d);
  }
  const std::string second = fits ? other.name : x.name;
  const Shape& shape = fits ? other.shape : x.shape;
  if (!fits || axis < 0) axis = Below(static_cast<int>(x.shape.size()));
  auto* node = AddNode("Concat", {x.name, second});
  Set(node, "axis", axis);
  Real y = {node->output(0), x.shape, x.reach};
  y.shape[axis] += shape[axis];
  return y;
}

NetworkDrawer::Real NetworkDrawer::Step(const Real& x) {
  const bool spatial = x.shape.size() == 3 || x.shape.size() == 4;
  switch (Below(10)) {
    case 0:
    case 1:
    case 2:
      return spatial ? Conv(x) : Dense(x);
    case 3:
      return Dense(x);
    case 4:
      return Pair(x);
    case 5:
      return spatial ? Pool(x) : Mean(x);
    case 6:
      return x.shape.size() > 1 ? Mean(x) : Dense(x);
    case 7:
      return x.shape.size() > 1 ? Move(x) : Dense(x);
    case 8:
      return Chance(50) ? Pad(x) : Tail(x, false);
    default:
      return Join(x);
  }
}

onnx::ModelProto NetworkDrawer::Draw() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  auto* opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(17);
  graph_ = model.mutable_graph();
  graph_->set_name("drawn");
  Real x = Input();
  for (int steps = 1 + Below(5); steps > 0; --steps) {
    Real y = Step(x);
    if (Count(y.shape) > kMostElements) y = Mean(x);
    // Now and then movement is between two operators with no quantization.
    x = Chance(90) || !y.is_quantized ? Quantized(y) : y;
  }
  *graph_->add_output() = ValueOf(x.name, TensorProto::FLOAT, x.shape);
  return model;
}

}  // namespace fold::regress
