#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/check/meaning.h"

namespace fold::check {
namespace {

// Integer weights [outputs][depth] with one scale an output.
struct IntegerWeights {
  std::vector<int32_t> weights;
  std::vector<Number> scales;
};

// `at(o, k)` is the element of the constant; false if the weights are not
// dequantized integers with one scale an output.
bool ReadWeights(const Value& value, int64_t outputs, int64_t depth,
                 const std::function<int64_t(int64_t, int64_t)>& at,
                 IntegerWeights* result) {
  if (!value.constant_codes()) return false;
  std::vector<Number> scales;
  std::vector<int64_t> zeros;
  for (size_t cls = 0; cls < value.ClassCount(); ++cls) {
    const Chain chain = Reduce(value.chain, cls, Interval{}, true);
    Number a(1);
    Number b(0);
    if (chain.size() > 1) return false;
    if (chain.size() == 1) {
      if (chain[0].kind != Step::Kind::kAffine) return false;
      a = chain[0].scale[0];
      b = chain[0].offset[0];
    }
    const Number zero = -b / a;
    if (!zero.FitsInt64()) return false;
    scales.push_back(a);
    zeros.push_back(zero.ToInt64());
  }
  result->weights.reserve(outputs * depth);
  for (int64_t o = 0; o < outputs; ++o) {
    const int32_t first = value.ClassOf(at(o, 0));
    result->scales.push_back(scales[first]);
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t element = at(o, k);
      const int32_t cls = value.ClassOf(element);
      if (cls != first && !(scales[cls] == scales[first])) return false;
      result->weights.push_back(
          static_cast<int32_t>(CodeOf((*value.labels)[element]) - zeros[cls]));
    }
  }
  return true;
}

// Lowest and highest code of the input, constants in it included.
Interval InputCodes(const Value& x) {
  Interval codes = x.ranges[0];
  for (const Interval& range : x.ranges) codes = Union(codes, range);
  if (x.roots[0] != 0) return codes;
  for (const Label label : *x.labels) {
    if (RootOf(label) != 0) continue;
    codes = Union(codes, Whole(CodeOf(label), CodeOf(label)));
  }
  return codes;
}

std::vector<Interval> AccumulatorRanges(const LinearDefinition& linear) {
  const int64_t low = linear.codes.low->ToInt64() - linear.zero;
  const int64_t high = linear.codes.high->ToInt64() - linear.zero;
  const bool pads = linear.input.pads();
  const int64_t depth = linear.input.depth();
  std::vector<Interval> ranges;
  for (int64_t o = 0; o < linear.outputs; ++o) {
    int64_t least = 0;
    int64_t most = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t w = linear.weights[o * depth + k];
      int64_t smaller = std::min(w * low, w * high);
      int64_t larger = std::max(w * low, w * high);
      if (pads) {
        smaller = std::min<int64_t>(smaller, 0);
        larger = std::max<int64_t>(larger, 0);
      }
      least += smaller;
      most += larger;
    }
    ranges.push_back(Whole(least, most));
  }
  return ranges;
}

// The product over `patches` as scaled accumulators, or a real root.
Value Product(const Scope& scope, const Value& x, Patches patches,
              int64_t outputs, const Value& weights,
              const std::function<int64_t(int64_t, int64_t)>& at, Shape shape) {
  Number scale;
  int64_t zero = 0;
  IntegerWeights integers;
  if (!x.known()) return x;
  if (!weights.known()) return weights;
  if (!x.tracked() || x.constant() || !scope.roots->Integers(x) ||
      !UniformGrid(x, &scale, &zero) || zero != static_cast<int32_t>(zero) ||
      !ReadWeights(weights, outputs, patches.depth(), at, &integers)) {
    return Opaque(scope, std::move(shape), x.type);
  }
  LinearDefinition linear;
  linear.codes = InputCodes(x);
  if (!linear.codes.low || !linear.codes.high ||
      !linear.codes.low->FitsInt64() || !linear.codes.high->FitsInt64()) {
    return Opaque(scope, std::move(shape), x.type);
  }
  patches.labels = x.labels;
  patches.padding = ConstantLabel(static_cast<int32_t>(zero));
  const int64_t picture = patches.out_height * patches.out_width;
  const int64_t batch = patches.batch;
  linear.input = std::move(patches);
  linear.zero = zero;
  linear.outputs = outputs;
  linear.weights = std::move(integers.weights);
  std::vector<Interval> ranges = AccumulatorRanges(linear);
  auto classes = std::make_shared<std::vector<int32_t>>();
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t o = 0; o < outputs; ++o) {
      classes->insert(classes->end(), picture, static_cast<int32_t>(o));
    }
  }
  Root root;
  root.kind = Root::Kind::kLinear;
  root.name = scope.output;
  root.shape = shape;
  root.linear = std::make_shared<LinearDefinition>(std::move(linear));
  Value y = RootValue(scope.roots->Add(std::move(root)), std::move(shape),
                      x.type, std::move(classes), std::move(ranges));
  std::vector<Number> scales;
  for (const Number& s : integers.scales) scales.push_back(scale * s);
  std::vector<Number> offsets(scales.size(), Number(0));
  y.chain.push_back(Affine(std::move(scales), std::move(offsets)));
  return y;
}

Patches Matrix(int64_t rows, int64_t depth, int64_t row_stride,
               int64_t depth_stride) {
  Patches patches;
  patches.batch = rows;
  patches.batch_stride = row_stride;
  patches.channel_stride = depth_stride;
  patches.group_channels = depth;
  patches.rows = {0};
  patches.columns = {0};
  return patches;
}

}  // namespace

Value Convolve(const Scope& scope, const Value& x, const Value& weights,
               const Value* bias) {
  if (!x.known()) return x;
  if (!weights.known()) return weights;
  const size_t spatial = x.shape.size() - 2;
  if (x.shape.size() < 3 || weights.shape.size() != x.shape.size()) {
    return UnknownValue("a convolution of these ranks");
  }
  Windows windows;
  const std::vector<int64_t> kernel(weights.shape.begin() + 2,
                                    weights.shape.end());
  if (!ReadWindows(scope.attributes, x.shape, kernel, &windows)) {
    return UnknownValue("windows that do not fit");
  }
  const int64_t outputs = weights.shape[0];
  Shape shape = {x.shape[0], outputs};
  shape.insert(shape.end(), windows.out.begin(), windows.out.end());
  const int64_t groups = scope.attributes.Int("group", 1);
  if (spatial > 2 || groups < 1 || x.shape[1] % groups != 0 ||
      outputs % groups != 0 || weights.shape[1] != x.shape[1] / groups) {
    return Opaque(scope, std::move(shape), x.type);
  }
  const bool flat = spatial == 1;
  const std::vector<int64_t> strides = Strides(x.shape);
  Patches patches;
  patches.batch = x.shape[0];
  patches.batch_stride = strides[0];
  patches.channel_stride = strides[1];
  patches.row_stride = flat ? 0 : strides[2];
  patches.column_stride = strides.back();
  patches.groups = groups;
  patches.group_channels = x.shape[1] / groups;
  patches.rows = {0};
  const auto map = [&](size_t d) {
    return WindowMap(x.shape[2 + d], windows.out[d], windows.kernel[d],
                     windows.strides[d], windows.dilations[d],
                     windows.begin[d]);
  };
  if (!flat) {
    patches.rows = map(0);
    patches.out_height = windows.out[0];
    patches.kernel_height = windows.kernel[0];
  }
  patches.columns = map(spatial - 1);
  patches.out_width = windows.out[spatial - 1];
  patches.kernel_width = windows.kernel[spatial - 1];
  const int64_t depth = patches.depth();
  Value y = Product(
      scope, x, std::move(patches), outputs, weights,
      [depth](int64_t o, int64_t k) { return o * depth + k; },
      std::move(shape));
  if (bias == nullptr || !y.known()) return y;
  Shape wide(y.shape.size() - 1, 1);
  wide[0] = outputs;
  if (bias->size() != outputs) return UnknownValue("a bias of another size");
  return Combine(scope, Binary::kAdd, y, Reshaped(*bias, wide));
}

Value GemmProduct(const Scope& scope, const Value& x, const Value& weights,
                  bool transpose_x, bool transpose_weights) {
  if (!x.known()) return x;
  if (!weights.known()) return weights;
  if (x.shape.size() != 2 || weights.shape.size() != 2) {
    return UnknownValue("a Gemm of these ranks");
  }
  const int64_t rows = x.shape[transpose_x ? 1 : 0];
  const int64_t depth = x.shape[transpose_x ? 0 : 1];
  const int64_t outputs = weights.shape[transpose_weights ? 0 : 1];
  if (weights.shape[transpose_weights ? 1 : 0] != depth) {
    return UnknownValue("a Gemm whose shapes do not fit");
  }
  const auto at = [=](int64_t o, int64_t k) {
    return transpose_weights ? o * depth + k : k * outputs + o;
  };
  return Product(
      scope, x,
      Matrix(rows, depth, transpose_x ? 1 : depth, transpose_x ? rows : 1),
      outputs, weights, at, {rows, outputs});
}

Value Multiply(const Scope& scope, const Value& x, const Value& weights) {
  if (!x.known()) return x;
  if (!weights.known()) return weights;
  if (x.shape.size() < 2 || weights.shape.size() < 2) {
    return UnknownValue("a MatMul of these ranks");
  }
  const int64_t depth = x.shape.back();
  const int64_t outputs = weights.shape.back();
  if (weights.shape[weights.shape.size() - 2] != depth) {
    return UnknownValue("a MatMul whose shapes do not fit");
  }
  Shape shape;
  const Shape lead(x.shape.begin(), x.shape.end() - 2);
  const Shape other(weights.shape.begin(), weights.shape.end() - 2);
  if (!BroadcastShape(lead, other, &shape)) {
    return UnknownValue("a MatMul whose shapes do not fit");
  }
  shape.push_back(x.shape[x.shape.size() - 2]);
  shape.push_back(outputs);
  if (ElementCount(other) != 1 || other.size() > lead.size()) {
    return Opaque(scope, std::move(shape), x.type);
  }
  const auto at = [=](int64_t o, int64_t k) { return k * outputs + o; };
  return Product(scope, x, Matrix(x.size() / depth, depth, depth, 1), outputs,
                 weights, at, std::move(shape));
}

}  // namespace fold::check
