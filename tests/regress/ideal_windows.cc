// Conv, the pools, ReduceMean and MatMul on exact numbers.
#include <algorithm>

#include "tests/regress/ideal.h"

namespace fold::regress {
namespace {

struct Axis {
  int64_t input, kernel, stride = 1, dilation = 1, begin = 0, end = 0, output;
};

// ONNX's window: explicit pads or auto_pad, floor or ceil.
std::vector<Axis> Axes(const Call& call, const Shape& input,
                       const Shape& kernel) {
  const auto strides = call.integers("strides"), pads = call.integers("pads"),
             dilations = call.integers("dilations");
  const std::string mode = call.text("auto_pad", "NOTSET");
  std::vector<Axis> axes(kernel.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& a = axes[i];
    a.input = input[i + 2];
    a.kernel = kernel[i];
    if (!strides.empty()) a.stride = strides[i];
    if (!dilations.empty()) a.dilation = dilations[i];
    const int64_t reach = (a.kernel - 1) * a.dilation + 1;
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      a.output = (a.input + a.stride - 1) / a.stride;
      const int64_t total =
          std::max<int64_t>((a.output - 1) * a.stride + reach - a.input, 0);
      a.begin = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      a.end = total - a.begin;
      continue;
    }
    if (!pads.empty()) {
      a.begin = pads[i];
      a.end = pads[i + axes.size()];
    }
    a.output = (a.input + a.begin + a.end - reach) / a.stride + 1;
    const bool rest = (a.input + a.begin + a.end - reach) % a.stride != 0;
    // One more window may hang over the end if it starts before the padding.
    if (call.integer("ceil_mode", 0) && rest &&
        a.output * a.stride < a.input + a.begin) {
      ++a.output;
    }
  }
  return axes;
}

Shape Outputs(const std::vector<Axis>& axes) {
  Shape shape;
  for (const Axis& a : axes) shape.push_back(a.output);
  return shape;
}

// Calls visit(tap, coordinates, inside, counted) for every tap of the window
// at `at`; `counted`: within the input and its declared padding.
template <typename Visit>
void ForTaps(const std::vector<Axis>& axes, const Shape& kernel,
             const Shape& at, Visit visit) {
  for (int64_t t = 0; t < Count(kernel); ++t) {
    const Shape tap = Coordinates(t, kernel);
    Shape x(axes.size());
    bool inside = true, counted = true;
    for (size_t d = 0; d < axes.size(); ++d) {
      const Axis& a = axes[d];
      x[d] = at[d] * a.stride + tap[d] * a.dilation - a.begin;
      inside = inside && x[d] >= 0 && x[d] < a.input;
      counted = counted && x[d] < a.input + a.end;
    }
    visit(t, x, inside, counted);
  }
}

Shape Join(int64_t n, int64_t c, const Shape& spatial) {
  Shape shape = {n, c};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

Ideal MaxPoolOf(const Call& call, const Ideal& x) {
  const Shape kernel = call.integers("kernel_shape");
  const auto axes = Axes(call, x.shape, kernel);
  Ideal y = {x.type, Join(x.shape[0], x.shape[1], Outputs(axes)), {}};
  for (int64_t i = 0; i < Count(y.shape); ++i) {
    const Shape at = Coordinates(i, y.shape);
    bool first = true;
    mpq_class most = 0;
    ForTaps(axes, kernel, Shape(at.begin() + 2, at.end()),
            [&](int64_t, const Shape& s, bool inside, bool) {
              if (!inside) return;
              const auto& v = x.numbers[Place(Join(at[0], at[1], s), x.shape)];
              most = first ? v : std::max(most, v);
              first = false;
            });
    y.numbers.push_back(most);
  }
  return y;
}

Ideal MeanOf(const Call& call, const Ideal& x) {
  auto axes = call.list("axes", 1);
  const auto rank = static_cast<int64_t>(x.shape.size());
  if (axes.empty()) {
    for (int64_t d = 0; d < rank; ++d) axes.push_back(d);
  }
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  Shape kept = x.shape;
  for (int64_t axis : axes) kept[axis] = 1;
  Ideal y = {x.type, kept, std::vector<mpq_class>(Count(kept))};
  for (int64_t i = 0; i < Count(x.shape); ++i) {
    Shape at = Coordinates(i, x.shape);
    for (int64_t axis : axes) at[axis] = 0;
    y.numbers[Place(at, kept)] += x.numbers[i];
  }
  for (mpq_class& n : y.numbers) n /= mpq_class(Count(x.shape) / Count(kept));
  if (call.integer("keepdims", 1)) return y;
  y.shape.clear();
  for (int64_t d = 0; d < rank; ++d) {
    if (!std::count(axes.begin(), axes.end(), d)) {
      y.shape.push_back(x.shape[d]);
    }
  }
  return y;
}

}  // namespace

Ideal ConvOf(const Call& call, const Ideal& x, const Ideal& w,
             const Ideal* bias) {
  const Shape kernel(w.shape.begin() + 2, w.shape.end());
  const auto axes = Axes(call, x.shape, kernel);
  const int64_t groups = call.integer("group", 1);
  const int64_t inner = w.shape[1], outer = w.shape[0] / groups;
  Ideal y = {x.type, Join(x.shape[0], w.shape[0], Outputs(axes)), {}};
  for (int64_t i = 0; i < Count(y.shape); ++i) {
    const Shape at = Coordinates(i, y.shape);
    mpq_class sum = bias ? bias->numbers[at[1]] : mpq_class(0);
    ForTaps(axes, kernel, Shape(at.begin() + 2, at.end()),
            [&](int64_t t, const Shape& s, bool inside, bool) {
              for (int64_t c = 0; inside && c < inner; ++c) {
                const int64_t from = at[1] / outer * inner + c;
                sum += x.numbers[Place(Join(at[0], from, s), x.shape)] *
                       w.numbers[(at[1] * inner + c) * Count(kernel) + t];
              }
            });
    y.numbers.push_back(sum);
  }
  return y;
}

Ideal MatMulOf(const Ideal& a, const Ideal& b) {
  Shape left = a.shape, right = b.shape;
  if (a.shape.size() == 1) left.insert(left.begin(), 1);
  if (b.shape.size() == 1) right.push_back(1);
  const int64_t m = left[left.size() - 2], k = left.back(), n = right.back();
  const Shape batch = BroadcastShapes(Shape(left.begin(), left.end() - 2),
                                      Shape(right.begin(), right.end() - 2));
  const auto matrix = [&](const Ideal& x, const Shape& shape, const Shape& at) {
    const Ideal numbers = {x.type, Shape(shape.begin(), shape.end() - 2), {}};
    Shape own(numbers.shape.size());
    for (size_t d = 0; d < own.size(); ++d) {
      const int64_t index = at[at.size() - own.size() + d];
      own[d] = numbers.shape[d] == 1 ? 0 : index;
    }
    return Place(own, numbers.shape) * shape[shape.size() - 2] * shape.back();
  };
  Ideal y = {a.type, batch, {}};
  for (int64_t p = 0; p < Count(batch); ++p) {
    const Shape at = Coordinates(p, batch);
    const int64_t from_a = matrix(a, left, at), from_b = matrix(b, right, at);
    for (int64_t i = 0; i < m * n; ++i) {
      mpq_class sum = 0;
      for (int64_t q = 0; q < k; ++q) {
        sum += a.numbers[from_a + i / n * k + q] *
               b.numbers[from_b + q * n + i % n];
      }
      y.numbers.push_back(sum);
    }
  }
  if (a.shape.size() > 1) y.shape.push_back(m);
  if (b.shape.size() > 1) y.shape.push_back(n);
  return y;
}

Ideal AveragePoolOf(const Call& call, const Ideal& x) {
  const Shape kernel = call.integers("kernel_shape");
  const auto axes = Axes(call, x.shape, kernel);
  const bool padding = call.integer("count_include_pad", 0) != 0;
  Ideal y = {x.type, Join(x.shape[0], x.shape[1], Outputs(axes)), {}};
  for (int64_t i = 0; i < Count(y.shape); ++i) {
    const Shape at = Coordinates(i, y.shape);
    mpq_class sum = 0;
    int64_t count = 0;
    ForTaps(axes, kernel, Shape(at.begin() + 2, at.end()),
            [&](int64_t, const Shape& s, bool inside, bool counted) {
              count += padding ? counted : inside;
              if (!inside) return;
              sum += x.numbers[Place(Join(at[0], at[1], s), x.shape)];
            });
    y.numbers.push_back(sum / mpq_class(count));
  }
  return y;
}

Ideal GlobalAverageOf(const Ideal& x) {
  const Shape one(x.shape.size() - 2, 1);
  Ideal y = {x.type, Join(x.shape[0], x.shape[1], one), {}};
  const int64_t size = Count(x.shape) / Count(y.shape);
  for (int64_t i = 0; i < Count(y.shape); ++i) {
    mpq_class sum = 0;
    for (int64_t k = 0; k < size; ++k) sum += x.numbers[i * size + k];
    y.numbers.push_back(sum / mpq_class(size));
  }
  return y;
}

bool EvaluateWindow(const Call& call, Ideal* y) {
  const std::string& op = call.node.op_type();
  const Ideal* bias = call.has(2) ? call.in[2] : nullptr;
  if (op == "Conv") {
    *y = ConvOf(call, *call.in[0], *call.in[1], bias);
  } else if (op == "MaxPool") {
    *y = MaxPoolOf(call, *call.in[0]);
  } else if (op == "AveragePool") {
    *y = AveragePoolOf(call, *call.in[0]);
  } else if (op == "GlobalAveragePool") {
    *y = GlobalAverageOf(*call.in[0]);
  } else if (op == "ReduceMean") {
    *y = MeanOf(call, *call.in[0]);
  } else {
    return false;
  }
  return true;
}

}  // namespace fold::regress
