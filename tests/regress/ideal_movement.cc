// Operators that move elements, on exact numbers.
#include <algorithm>

#include "tests/regress/ideal.h"

namespace fold::regress {
namespace {

using Ints = std::vector<int64_t>;

Ints FromRear(Ints axes, size_t rank) {
  for (int64_t& axis : axes) axis += axis < 0 ? static_cast<int64_t>(rank) : 0;
  std::sort(axes.begin(), axes.end());
  return axes;
}

Shape Reshaped(const Call& call, const Ideal& x) {
  Shape shape = call.list("shape", 1);
  int64_t known = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) shape[d] = x.shape[d];
    if (shape[d] > 0) known *= shape[d];
  }
  for (int64_t& size : shape) {
    if (size < 0) size = Count(x.shape) / known;
  }
  return shape;
}

Shape Flattened(const Call& call, const Ideal& x) {
  int64_t axis = call.integer("axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(x.shape.size());
  const auto middle = x.shape.begin() + axis;
  return {Count(Shape(x.shape.begin(), middle)),
          Count(Shape(middle, x.shape.end()))};
}

Shape Squeezed(const Call& call, const Ideal& x) {
  const Ints axes = FromRear(call.list("axes", 1), x.shape.size());
  Shape shape;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    const bool listed =
        std::count(axes.begin(), axes.end(), static_cast<int64_t>(d)) > 0;
    if (axes.empty() ? x.shape[d] != 1 : !listed) shape.push_back(x.shape[d]);
  }
  return shape;
}

Shape Unsqueezed(const Call& call, const Ideal& x) {
  const Ints given = call.list("axes", 1);
  Shape shape = x.shape;
  for (int64_t axis : FromRear(given, x.shape.size() + given.size())) {
    shape.insert(shape.begin() + axis, 1);
  }
  return shape;
}

Ideal TransposeOf(const Call& call, const Ideal& x) {
  Ints perm = call.integers("perm");
  const size_t rank = x.shape.size();
  if (perm.empty()) {
    for (size_t d = rank; d-- > 0;) perm.push_back(static_cast<int64_t>(d));
  }
  Ideal y = {x.type, {}, {}};
  for (int64_t d : perm) y.shape.push_back(x.shape[d]);
  for (int64_t i = 0; i < Count(y.shape); ++i) {
    const Shape at = Coordinates(i, y.shape);
    Shape from(rank);
    for (size_t d = 0; d < rank; ++d) from[perm[d]] = at[d];
    y.numbers.push_back(x.numbers[Place(from, x.shape)]);
  }
  return y;
}

Ideal GatherOf(const Call& call, const Ideal& x, const Ideal& indices) {
  int64_t axis = call.integer("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(x.shape.size());
  Ideal y = {x.type, x.shape, {}};
  y.shape.erase(y.shape.begin() + axis);
  y.shape.insert(y.shape.begin() + axis, indices.shape.begin(),
                 indices.shape.end());
  const auto rank = static_cast<int64_t>(indices.shape.size());
  for (int64_t i = 0; i < Count(y.shape); ++i) {
    const Shape at = Coordinates(i, y.shape);
    const Shape which(at.begin() + axis, at.begin() + axis + rank);
    int64_t place =
        indices.numbers[Place(which, indices.shape)].get_num().get_si();
    if (place < 0) place += x.shape[axis];
    Shape from(at.begin(), at.begin() + axis);
    from.push_back(place);
    from.insert(from.end(), at.begin() + axis + rank, at.end());
    y.numbers.push_back(x.numbers[Place(from, x.shape)]);
  }
  return y;
}

Ideal PadOf(const Call& call, const Ideal& x) {
  const Ints pads = call.list("pads", 1);
  const size_t rank = x.shape.size();
  Ideal y = {x.type, x.shape, {}};
  for (size_t d = 0; d < rank; ++d) y.shape[d] += pads[d] + pads[d + rank];
  for (int64_t i = 0; i < Count(y.shape); ++i) {
    Shape at = Coordinates(i, y.shape);
    bool inside = true;
    for (size_t d = 0; d < rank; ++d) {
      at[d] -= pads[d];
      inside = inside && at[d] >= 0 && at[d] < x.shape[d];
    }
    const mpq_class outside = call.has(2) ? call.in[2]->numbers[0] : 0;
    y.numbers.push_back(inside ? x.numbers[Place(at, x.shape)] : outside);
  }
  return y;
}

}  // namespace

Ideal ConcatOf(const std::vector<const Ideal*>& parts, int64_t axis) {
  Ideal y = *parts[0];
  if (axis < 0) axis += static_cast<int64_t>(y.shape.size());
  y.shape[axis] = 0;
  for (const Ideal* part : parts) y.shape[axis] += part->shape[axis];
  y.numbers.assign(Count(y.shape), 0);
  int64_t start = 0;
  for (const Ideal* part : parts) {
    for (int64_t i = 0; i < Count(part->shape); ++i) {
      Shape at = Coordinates(i, part->shape);
      at[axis] += start;
      y.numbers[Place(at, y.shape)] = part->numbers[i];
    }
    start += part->shape[axis];
  }
  return y;
}

bool EvaluateMovement(const Call& call, Ideal* y) {
  const std::string& op = call.node.op_type();
  const Ideal& x = *call.in[0];
  if (op == "Concat") {
    *y = ConcatOf(call.in, call.integer("axis", 0));
    return true;
  }
  if (op == "Transpose" || op == "Pad") {
    *y = op == "Pad" ? PadOf(call, x) : TransposeOf(call, x);
    return true;
  }
  if (op == "Shape") {
    *y = {onnx::TensorProto::INT64, {static_cast<int64_t>(x.shape.size())}, {}};
    for (int64_t size : x.shape) y->numbers.emplace_back(size);
    return true;
  }
  if (op == "Gather") {
    *y = GatherOf(call, x, *call.in[1]);
    return true;
  }
  *y = x;
  if (op == "Not") {
    for (mpq_class& number : y->numbers) number = number == 0;
  } else if (op == "Reshape") {
    y->shape = Reshaped(call, x);
  } else if (op == "Flatten") {
    y->shape = Flattened(call, x);
  } else if (op == "Squeeze") {
    y->shape = Squeezed(call, x);
  } else if (op == "Unsqueeze") {
    y->shape = Unsqueezed(call, x);
  } else if (op == "Cast") {
    y->type = static_cast<int32_t>(call.integer("to", x.type));
  } else {
    return op == "Identity";
  }
  return true;
}

}  // namespace fold::regress
