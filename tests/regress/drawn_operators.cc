// The operators of drawn networks.
#include <algorithm>
#include <cmath>

#include "tests/regress/network_drawer.h"

namespace fold::regress {

using onnx::TensorProto;

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
  const Stored weights = Weights(w, 0);
  std::vector<std::string> inputs = {x.name, weights.real};
  const double depth = static_cast<double>(Count(w)) / outputs;
  const double reach = x.reach * weights.reach * std::sqrt(depth) / 3;
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
  return Chance(25) ? BatchNorm(y, outputs) : Tail(y, true);
}

NetworkDrawer::Real NetworkDrawer::BatchNorm(const Real& x, int64_t channels) {
  std::vector<float> parameters[4];
  for (int64_t c = 0; c < channels; ++c) {
    parameters[0].push_back(static_cast<float>(Below(400) - 200) / 100);
    parameters[1].push_back(static_cast<float>(Below(200) - 100) / 100);
    parameters[2].push_back(static_cast<float>(Below(200) - 100) / 50);
    parameters[3].push_back(static_cast<float>(1 + Below(400)) / 100);
  }
  std::vector<std::string> inputs = {x.name};
  for (const auto& values : parameters) {
    inputs.push_back(Floats("bn", {channels}, values));
  }
  const Real y = {AddNode("BatchNormalization", inputs)->output(0), x.shape,
                  x.reach};
  return Tail(y, false);
}

NetworkDrawer::Real NetworkDrawer::Dense(const Real& x) {
  const int64_t depth = x.shape.back(), outputs = 1 + Below(6);
  const bool gemm = x.shape.size() == 2 && Chance(60);
  const bool transposed = gemm && Chance(50);
  const Shape w = transposed ? Shape{outputs, depth} : Shape{depth, outputs};
  const Stored weights = Weights(w, transposed ? 0 : 1);
  std::vector<std::string> inputs = {x.name, weights.real};
  const double reach =
      x.reach * weights.reach * std::sqrt(static_cast<double>(depth)) / 3;
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

// The constant operand is the left one.
NetworkDrawer::Real NetworkDrawer::ConstantLeft(const Real& x) {
  const size_t rank = x.shape.size();
  const int64_t depth = x.shape[rank - 2], outputs = 1 + Below(5);
  const bool gemm = rank == 2 && Chance(50);
  const bool transposed = gemm && Chance(50);
  const Shape w = transposed ? Shape{depth, outputs} : Shape{outputs, depth};
  const Stored weights = Weights(w, transposed ? 1 : 0);
  auto* node = AddNode(gemm ? "Gemm" : "MatMul", {weights.real, x.name});
  if (gemm) Set(node, "transA", transposed);
  Real y = {
      node->output(0), x.shape,
      x.reach * weights.reach * std::sqrt(static_cast<double>(depth)) / 3};
  y.shape[rank - 2] = outputs;
  return Tail(y, false);
}

NetworkDrawer::Real NetworkDrawer::PairWithConstant(const Real& x) {
  Shape shape = x.shape;
  // The whole shape, the last dimensions, or one number a channel.
  const int kind = Below(3);
  if (kind == 1) shape.erase(shape.begin());
  if (kind == 2) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d != (shape.size() > 1 ? 1 : 0)) shape[d] = 1;
    }
  }
  if (shape.empty()) shape = {1};
  const Stored other = Weights(shape, -1);
  const char* const ops[] = {"Add", "Mul", "Sub"};
  const int op = Below(3);
  std::vector<std::string> inputs = {x.name, other.real};
  if (Chance(30)) std::swap(inputs[0], inputs[1]);
  const Real y = {
      AddNode(ops[op], inputs)->output(0), x.shape,
      op == 1 ? x.reach * other.reach / 2 : (x.reach + other.reach) / 1.5};
  return Tail(y, false);
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

NetworkDrawer::Real NetworkDrawer::QLinear(const Real& x) {
  const bool matrix = x.shape.size() != 4 || Chance(30);
  const int64_t outputs = 1 + Below(4);
  std::vector<Real> fitting;
  for (const Real& value : values_) {
    if (value.shape == x.shape && !value.codes.empty() &&
        value.scheme.type == x.scheme.type) {
      fitting.push_back(value);
    }
  }
  std::vector<std::string> inputs = {x.codes, x.scheme.scale, x.scheme.zero};
  Real y = {"", x.shape, x.reach};
  onnx::NodeProto* node = nullptr;
  const auto finish = [&](const char* op, int32_t type, double reach) {
    y.reach = reach;
    y.scheme = DrawScheme(type, &y.reach);
    inputs.push_back(y.scheme.scale);
    inputs.push_back(y.scheme.zero);
    node = AddNode(op, inputs);
  };
  if (!fitting.empty() && Chance(40)) {
    const Real& other = fitting[Below(static_cast<int>(fitting.size()))];
    for (const std::string& name :
         {other.codes, other.scheme.scale, other.scheme.zero}) {
      inputs.push_back(name);
    }
    const bool add = Chance(60);
    finish(add ? "com.microsoft.QLinearAdd" : "com.microsoft.QLinearMul",
           x.scheme.type, add ? x.reach + other.reach : x.reach * other.reach);
  } else {
    const Shape w = matrix ? Shape{x.shape.back(), outputs}
                           : Shape{outputs, x.shape[1], 2, 1};
    const Stored weights = NewWeights(w, matrix ? -1 : 0);
    for (const std::string& name :
         {weights.codes, weights.scheme.scale, weights.scheme.zero}) {
      inputs.push_back(name);
    }
    finish(matrix ? "QLinearMatMul" : "QLinearConv", DrawType(),
           x.reach * weights.reach);
    if (matrix) {
      y.shape.back() = outputs;
    } else {
      y.shape[1] = outputs;
      --y.shape[2];
    }
  }
  values_.push_back(Dequantized(node->output(0), y.shape, y.scheme, y.reach));
  return values_.back();
}

NetworkDrawer::Real NetworkDrawer::Step(const Real& x) {
  const bool spatial = x.shape.size() == 3 || x.shape.size() == 4;
  const bool matrix = x.shape.size() > 1;
  switch (Below(14)) {
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
      return matrix ? Mean(x) : Dense(x);
    case 7:
      return matrix ? Move(x) : Dense(x);
    case 8:
      return Chance(50) ? Pad(x) : Tail(x, false);
    case 9:
      return matrix ? ConstantLeft(x) : Dense(x);
    case 10:
      return PairWithConstant(x);
    case 11:
      return !x.codes.empty() && x.shape.size() > 1 && x.shape.size() < 5 &&
                     (x.shape.size() < 4 || x.shape[2] > 1)
                 ? QLinear(x)
                 : Dense(x);
    case 12:
      return x.shape.size() > 1 && Chance(60) ? BatchNorm(x, x.shape[1])
                                              : Quantized(x);
    default:
      return Join(x);
  }
}

}  // namespace fold::regress
