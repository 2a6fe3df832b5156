// MaxPool, AveragePool, GlobalAveragePool, ReduceMean.
#include "compiler/ops/pool.h"

#include <algorithm>

#include "compiler/ops/specs.h"
#include "compiler/ops/window.h"

namespace fold {
namespace {

std::optional<Shape> InferPool(const OperandView& view, std::string* fault) {
  const Shape& x = view.types[0].shape;
  const auto kernel =
      view.node.attribute<std::vector<int64_t>>("kernel_shape", {});
  const auto window = WindowOf(view.node, x, kernel, fault);
  if (!window) return std::nullopt;
  Shape shape = {x[0], x[1]};
  for (const WindowAxis& axis : *window) shape.push_back(axis.output);
  return shape;
}

std::optional<Shape> InferGlobal(const OperandView& view, std::string* fault) {
  Shape shape = view.types[0].shape;
  if (shape.size() < 3) {
    *fault = "a global pool needs a batch, channels and a spatial dimension";
    return std::nullopt;
  }
  std::fill(shape.begin() + 2, shape.end(), 1);
  return shape;
}

std::optional<Shape> InferReduce(const OperandView& view, std::string* fault) {
  const auto axes = ReducedAxes(view);
  if (!axes) {
    *fault = "the axes of a reduction are not constant or out of range";
    return std::nullopt;
  }
  const bool keep = view.node.attribute<int64_t>("keepdims", 1) != 0;
  Shape shape;
  for (size_t d = 0; d < view.types[0].shape.size(); ++d) {
    const bool reduced =
        std::binary_search(axes->begin(), axes->end(), static_cast<int64_t>(d));
    if (!reduced) shape.push_back(view.types[0].shape[d]);
    if (reduced && keep) shape.push_back(1);
  }
  return shape;
}

}  // namespace

std::optional<std::vector<int64_t>> ReducedAxes(const OperandView& view) {
  const auto rank = static_cast<int64_t>(view.types[0].shape.size());
  auto axes = view.node.attribute<std::vector<int64_t>>("axes", {});
  if (view.types.size() > 1 && view.types[1].element == ElementType::i64) {
    if (!view.constants[1]) return std::nullopt;
    for (int64_t i = 0; i < view.constants[1]->size(); ++i) {
      axes.push_back(view.constants[1]->integer(i));
    }
  }
  if (axes.empty()) {
    if (view.node.attribute<int64_t>("noop_with_empty_axes", 0)) return axes;
    for (int64_t d = 0; d < rank; ++d) axes.push_back(d);
  }
  for (int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

const OpSpec kPoolSpec = {
    "auto_pad,ceil_mode,count_include_pad,dilations,kernel_shape,pads,"
    "storage_order,strides",
    EncodingRule::kFixing, InferPool, nullptr, false};
const OpSpec kGlobalPoolSpec = {"", EncodingRule::kFixing, InferGlobal, nullptr,
                                false};
const OpSpec kReduceSpec = {"axes,keepdims,noop_with_empty_axes",
                            EncodingRule::kFixing, InferReduce, nullptr, false};

}  // namespace fold
