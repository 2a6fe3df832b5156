// Constant, ConstantOfShape, Shape, Gather: what shapes are computed with.
#include <algorithm>
#include <cstring>

#include "compiler/ops/specs.h"

namespace fold {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 28;

TensorPtr EvaluateConstant(const OperandView& view) {
  TensorPtr value = view.node.attribute<TensorPtr>("value", nullptr);
  if (OpOf(view.node) == Op::kConstant) return value;
  // ConstantOfShape: `value` (default 0.0f) repeated.
  Shape shape;
  int64_t count = 1;
  for (int64_t i = 0; i < view.constants[0]->size(); ++i) {
    const int64_t size = view.constants[0]->integer(i);
    if (size < 0 || (size > 0 && count > kMostElements / size)) return nullptr;
    count *= size;
    shape.push_back(size);
  }
  const TensorPtr one =
      value ? value : MakeRealTensor(ElementType::f32, {1}, {0.0});
  auto filled = std::make_shared<Tensor>();
  filled->type = one->type;
  filled->shape = std::move(shape);
  for (int64_t i = 0; i < count; ++i) {
    filled->bytes.insert(filled->bytes.end(), one->bytes.begin(),
                         one->bytes.end());
  }
  return filled;
}

TensorPtr EvaluateShape(const OperandView& view) {
  const Shape& x = view.types[0].shape;
  const auto rank = static_cast<int64_t>(x.size());
  const auto clip = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = clip(view.node.attribute<int64_t>("start", 0));
  const int64_t end = clip(view.node.attribute<int64_t>("end", rank));
  std::vector<int64_t> sizes;
  for (int64_t d = start; d < end; ++d) sizes.push_back(x[d]);
  const auto count = static_cast<int64_t>(sizes.size());
  return MakeIntegerTensor(ElementType::i64, {count}, sizes);
}

// Gather along `axis` of a constant.
TensorPtr EvaluateGather(const OperandView& view) {
  const Tensor &data = *view.constants[0], &indices = *view.constants[1];
  const auto rank = static_cast<int64_t>(data.shape.size());
  int64_t axis = view.node.attribute<int64_t>("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return nullptr;
  const Shape outer(data.shape.begin(), data.shape.begin() + axis);
  const Shape inner(data.shape.begin() + axis + 1, data.shape.end());
  auto out = std::make_shared<Tensor>();
  out->type = data.type;
  out->shape = outer;
  out->shape.insert(out->shape.end(), indices.shape.begin(),
                    indices.shape.end());
  out->shape.insert(out->shape.end(), inner.begin(), inner.end());
  const int64_t run = ElementCount(inner) * ElementSize(data.type);
  for (int64_t o = 0; o < ElementCount(outer); ++o) {
    for (int64_t i = 0; i < indices.size(); ++i) {
      int64_t index = indices.integer(i);
      if (index < 0) index += data.shape[axis];
      if (index < 0 || index >= data.shape[axis]) return nullptr;
      const auto from =
          data.bytes.begin() + (o * data.shape[axis] + index) * run;
      out->bytes.insert(out->bytes.end(), from, from + run);
    }
  }
  return out;
}

}  // namespace

const OpSpec kConstantSpec = {"value", EncodingRule::kNone, nullptr,
                              EvaluateConstant, false};
const OpSpec kShapeSpec = {"start,end", EncodingRule::kNone, nullptr,
                           EvaluateShape, false};
const OpSpec kGatherSpec = {"axis", EncodingRule::kPreserving, nullptr,
                            EvaluateGather, false};

}  // namespace fold
