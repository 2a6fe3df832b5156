// Operators that move elements and compute nothing: Reshape and its relatives,
// Transpose, Concat, Pad, Identity, Cast.
#include "compiler/ops/movement.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/ops/specs.h"

namespace fold {
namespace {

using Ints = std::vector<int64_t>;

TensorPtr WithShape(const TensorPtr& tensor, Shape shape) {
  auto copy = std::make_shared<Tensor>(*tensor);
  copy->shape = std::move(shape);
  return copy;
}

std::optional<Shape> ReshapeTo(const OperandView& view, std::string* fault) {
  if (!view.constants[1]) return std::nullopt;
  const Shape& x = view.types[0].shape;
  const Tensor& target = *view.constants[1];
  const bool allow_zero = view.node.attribute<int64_t>("allowzero", 0) != 0;
  Shape shape;
  int64_t known = 1, open = -1;
  for (int64_t i = 0; i < target.size(); ++i) {
    int64_t size = target.integer(i);
    if (size == 0 && !allow_zero && i < static_cast<int64_t>(x.size())) {
      size = x[i];
    }
    if (size == -1) {
      open = i;
    } else if (size < 0 || __builtin_mul_overflow(known, size, &known)) {
      *fault = "the new shape has another number of elements";
      return std::nullopt;
    }
    shape.push_back(size);
  }
  const int64_t count = ElementCount(x);
  if (open >= 0 && known > 0 && count % known == 0) shape[open] = count / known;
  if (ElementCount(shape) != count) {
    *fault = "the new shape has another number of elements";
    return std::nullopt;
  }
  return shape;
}

Shape FlattenShape(const OperandView& view) {
  const Shape& x = view.types[0].shape;
  int64_t axis = view.node.attribute<int64_t>("axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(x.size());
  const auto middle = x.begin() + std::clamp<int64_t>(axis, 0, x.size());
  return {ElementCount(Shape(x.begin(), middle)),
          ElementCount(Shape(middle, x.end()))};
}

// Axes of Squeeze and Unsqueeze, from the attribute or operand 1, made
// non-negative for `rank` dimensions.
std::optional<Ints> AxesOf(const OperandView& view, int64_t rank) {
  Ints axes = view.node.attribute<Ints>("axes", {});
  if (view.types.size() > 1 && view.types[1].element == ElementType::i64) {
    if (!view.constants[1]) return std::nullopt;
    for (int64_t i = 0; i < view.constants[1]->size(); ++i) {
      axes.push_back(view.constants[1]->integer(i));
    }
  }
  for (int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

std::optional<Shape> SqueezeShape(const OperandView& view) {
  const Shape& x = view.types[0].shape;
  const auto axes = AxesOf(view, static_cast<int64_t>(x.size()));
  if (!axes) return std::nullopt;
  Shape shape;
  for (int64_t d = 0; d < static_cast<int64_t>(x.size()); ++d) {
    const bool drop = axes->empty()
                          ? x[d] == 1
                          : std::binary_search(axes->begin(), axes->end(), d);
    if (!drop) shape.push_back(x[d]);
  }
  return shape;
}

std::optional<Shape> UnsqueezeShape(const OperandView& view) {
  const Shape& x = view.types[0].shape;
  const Tensor* given =
      view.constants.size() > 1 ? view.constants[1].get() : nullptr;
  const size_t added =
      given ? given->size() : view.node.attribute<Ints>("axes", {}).size();
  const auto rank = static_cast<int64_t>(x.size() + added);
  const auto axes = AxesOf(view, rank);
  if (!axes || axes->size() != added) return std::nullopt;
  Shape shape;
  size_t next = 0;
  for (int64_t d = 0; d < rank; ++d) {
    const bool fresh = std::binary_search(axes->begin(), axes->end(), d);
    shape.push_back(fresh ? 1 : next < x.size() ? x[next++] : 1);
  }
  return shape;
}

std::optional<Shape> InferReshape(const OperandView& view, std::string* fault) {
  switch (OpOf(view.node)) {
    case Op::kReshape:
      return ReshapeTo(view, fault);
    case Op::kFlatten:
      return FlattenShape(view);
    case Op::kSqueeze:
      return SqueezeShape(view);
    default:
      return UnsqueezeShape(view);
  }
}

TensorPtr EvaluateReshape(const OperandView& view) {
  std::string fault;
  const auto shape = InferReshape(view, &fault);
  return shape && ElementCount(*shape) == view.constants[0]->size()
             ? WithShape(view.constants[0], *shape)
             : nullptr;
}

std::optional<Shape> InferTranspose(const OperandView& view,
                                    std::string* fault) {
  const auto perm = PermutationOf(view.node, view.types[0].shape.size());
  if (!perm) {
    *fault = "perm is not a permutation of the input's dimensions";
    return std::nullopt;
  }
  Shape shape;
  for (int64_t axis : *perm) shape.push_back(view.types[0].shape[axis]);
  return shape;
}

TensorPtr EvaluateTranspose(const OperandView& view) {
  const auto perm = PermutationOf(view.node, view.types[0].shape.size());
  return perm ? TransposeTensor(*view.constants[0], *perm) : nullptr;
}

std::optional<Shape> InferConcat(const OperandView& view, std::string* fault) {
  Shape shape = view.types[0].shape;
  int64_t axis = view.node.attribute<int64_t>("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) {
    *fault = "the axis of a Concat is out of range";
    return std::nullopt;
  }
  shape[axis] = 0;
  for (const TensorType& type : view.types) {
    if (type.shape.size() != shape.size()) {
      *fault = "the inputs of a Concat differ in rank";
      return std::nullopt;
    }
    for (size_t d = 0; d < shape.size(); ++d) {
      if (static_cast<int64_t>(d) != axis && type.shape[d] != shape[d]) {
        *fault = "the inputs of a Concat differ off its axis";
        return std::nullopt;
      }
    }
    shape[axis] += type.shape[axis];
  }
  return shape;
}

TensorPtr EvaluateConcat(const OperandView& view) {
  std::string fault;
  const auto shape = InferConcat(view, &fault);
  if (!shape) return nullptr;
  int64_t axis = view.node.attribute<int64_t>("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(shape->size());
  auto out = std::make_shared<Tensor>();
  out->type = view.constants[0]->type;
  out->shape = *shape;
  const int64_t outer =
      ElementCount(Shape(shape->begin(), shape->begin() + axis));
  if (outer == 0) return out;
  for (int64_t o = 0; o < outer; ++o) {
    for (const TensorPtr& part : view.constants) {
      if (part->type != out->type) return nullptr;
      const size_t run = part->bytes.size() / outer;
      out->bytes.insert(out->bytes.end(), part->bytes.begin() + o * run,
                        part->bytes.begin() + (o + 1) * run);
    }
  }
  return out;
}

std::optional<Shape> InferPad(const OperandView& view, std::string* fault) {
  const auto pads = PadsOf(view);
  if (!pads) return std::nullopt;
  Shape shape = view.types[0].shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    shape[d] += (*pads)[d] + (*pads)[d + shape.size()];
    if (shape[d] < 1) {
      *fault = "the pads leave nothing of the input";
      return std::nullopt;
    }
  }
  return shape;
}

std::optional<Shape> InferFirst(const OperandView& view, std::string*) {
  return view.types[0].shape;
}

TensorPtr EvaluateIdentity(const OperandView& view) {
  return view.constants[0];
}

ElementType CastTarget(const OperandView& view) {
  // TensorProto's numbers of the types.
  static const std::map<int64_t, ElementType> kTypes = {
      {1, ElementType::f32},   {2, ElementType::u8},
      {3, ElementType::i8},    {4, ElementType::u16},
      {5, ElementType::i16},   {6, ElementType::i32},
      {7, ElementType::i64},   {9, ElementType::boolean},
      {10, ElementType::f16},  {11, ElementType::f64},
      {12, ElementType::u32},  {13, ElementType::u64},
      {16, ElementType::bf16}, {21, ElementType::u4},
      {22, ElementType::i4}};
  const auto at = kTypes.find(view.node.attribute<int64_t>("to", 0));
  return at == kTypes.end() ? ElementType::undefined : at->second;
}

// Casts that keep every number as it is; others are left alone.
TensorPtr EvaluateCast(const OperandView& view) {
  const Tensor& x = *view.constants[0];
  const ElementType to = CastTarget(view);
  if (IsInteger(to) && IsInteger(x.type)) {
    std::vector<int64_t> y(x.size());
    for (int64_t i = 0; i < x.size(); ++i) {
      y[i] = x.integer(i);
      if (y[i] < LowestCode(to) || y[i] > HighestCode(to)) return nullptr;
    }
    return MakeIntegerTensor(to, x.shape, y);
  }
  std::vector<double> y(x.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    if (!IsFloat(x.type) && std::abs(x.integer(i)) > (int64_t{1} << 53)) {
      return nullptr;
    }
    y[i] = x.real(i);
  }
  if (IsFloat(to)) {
    TensorPtr cast = MakeRealTensor(to, x.shape, y);
    for (int64_t i = 0; i < x.size(); ++i) {
      if (cast->real(i) != y[i]) return nullptr;
    }
    return cast;
  }
  if (!IsInteger(to)) return nullptr;
  std::vector<int64_t> z(x.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    const double whole = std::trunc(y[i]);
    if (!(whole >= static_cast<double>(LowestCode(to)) &&
          whole <= static_cast<double>(HighestCode(to)) &&
          std::fabs(whole) < 9e15)) {
      return nullptr;
    }
    z[i] = static_cast<int64_t>(whole);
  }
  return MakeIntegerTensor(to, x.shape, z);
}

}  // namespace

std::optional<int64_t> SurvivingAxis(const Shape& from, const Shape& to,
                                     int64_t axis) {
  const int64_t before = ElementCount(Shape(from.begin(), from.begin() + axis));
  int64_t count = 1;
  for (size_t d = 0; d < to.size(); ++d) {
    if (count == before && to[d] == from[axis]) return static_cast<int64_t>(d);
    count *= to[d];
  }
  return std::nullopt;
}

std::optional<std::vector<int64_t>> PermutationOf(const Node& node,
                                                  size_t rank) {
  Ints perm = node.attribute<Ints>("perm", {});
  if (perm.empty()) {
    for (size_t i = 0; i < rank; ++i) perm.push_back(rank - 1 - i);
  }
  Ints sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) return std::nullopt;
  }
  if (perm.size() != rank) return std::nullopt;
  return perm;
}

TensorPtr TransposeTensor(const Tensor& tensor,
                          const std::vector<int64_t>& perm) {
  const size_t rank = perm.size();
  auto out = std::make_shared<Tensor>();
  out->type = tensor.type;
  out->bytes.resize(tensor.bytes.size());
  std::vector<int64_t> strides(rank, 1), moved(rank);
  for (size_t d = rank; d-- > 1;) {
    strides[d - 1] = strides[d] * tensor.shape[d];
  }
  for (size_t d = 0; d < rank; ++d) {
    out->shape.push_back(tensor.shape[perm[d]]);
    moved[d] = strides[perm[d]];
  }
  const int size = ElementSize(tensor.type);
  const int64_t count = tensor.size();
  std::vector<int64_t> at(rank);
  int64_t from = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(&out->bytes[i * size], &tensor.bytes[from * size], size);
    for (size_t d = rank; d-- > 0;) {
      from += moved[d];
      if (++at[d] < out->shape[d]) break;
      from -= moved[d] * out->shape[d];
      at[d] = 0;
    }
  }
  return out;
}

std::optional<std::vector<int64_t>> PadsOf(const OperandView& view) {
  Ints pads = view.node.attribute<Ints>("pads", {});
  const size_t rank = view.types[0].shape.size();
  if (view.constants.size() > 1 && view.constants[1]) {
    Ints given;
    for (int64_t i = 0; i < view.constants[1]->size(); ++i) {
      given.push_back(view.constants[1]->integer(i));
    }
    Ints axes;
    if (view.constants.size() > 3 && view.constants[3]) {
      for (int64_t i = 0; i < view.constants[3]->size(); ++i) {
        const int64_t axis = view.constants[3]->integer(i);
        axes.push_back(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
      }
    } else {
      for (size_t d = 0; d < rank; ++d) axes.push_back(d);
    }
    if (given.size() != 2 * axes.size()) return std::nullopt;
    pads.assign(2 * rank, 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] < 0 || axes[i] >= static_cast<int64_t>(rank)) {
        return std::nullopt;
      }
      pads[axes[i]] = given[i];
      pads[axes[i] + rank] = given[i + axes.size()];
    }
  }
  if (pads.size() != 2 * rank) return std::nullopt;
  return pads;
}

const OpSpec kReshapeSpec = {"allowzero,axes,axis", EncodingRule::kPreserving,
                             InferReshape, EvaluateReshape, true};
const OpSpec kTransposeSpec = {"perm", EncodingRule::kPermuting, InferTranspose,
                               EvaluateTranspose, false};
const OpSpec kConcatSpec = {"axis", EncodingRule::kFixing, InferConcat,
                            EvaluateConcat, false};
const OpSpec kPadSpec = {"mode,pads,value", EncodingRule::kPreserving, InferPad,
                         nullptr, false};
const OpSpec kIdentitySpec = {"", EncodingRule::kPreserving, InferFirst,
                              EvaluateIdentity, true};
const OpSpec kCastSpec = {"to,saturate,round_mode", EncodingRule::kNone,
                          InferFirst, EvaluateCast, true};

}  // namespace fold
