#include "compiler/lower/linear_weights.h"

#include <algorithm>

#include "compiler/ops/ops.h"

namespace fold {

LinearWeights::LinearWeights(const Graph& graph, const Node& node) {
  const Value& w = graph.value(node.operands[1]);
  const TensorType& x = graph.value(node.operands[0]).type;
  if (!w.constant || !w.type.encoding || ElementSize(w.type.element) != 1) {
    fault_ = "its weights are not constant 8-bit codes";
    return;
  }
  if (!x.encoding || !x.encoding->per_tensor() || ElementSize(x.element) != 1) {
    fault_ = "its input is not 8-bit with one scale";
    return;
  }
  weights_ = w.constant.get();
  encoding_ = &*w.type.encoding;
  const Shape& shape = weights_->shape;
  const bool conv = OpOf(node) == Op::kConv;
  columns_ =
      OpOf(node) == Op::kMatMul ||
      (OpOf(node) == Op::kGemm && node.attribute<int64_t>("transB", 0) == 0);
  if (!conv && shape.size() != 2) {
    fault_ = "its constant matrix has " + std::to_string(shape.size()) +
             " dimensions";
    return;
  }
  outputs_ = shape[columns_ ? 1 : 0];
  depth_ = weights_->size() / outputs_;
  if (conv) {
    inner_ = shape[1];
    taps_ = depth_ / inner_;
  }
  const int output_axis = columns_ ? 1 : 0;
  if (encoding_->block > 0 ||
      (!encoding_->per_tensor() && encoding_->axis != output_axis)) {
    fault_ = "its weights have scales that do not run along the outputs";
    return;
  }
  const int64_t zero = x.encoding->zero_points[0];
  input_low_ = x.encoding->code_low.value_or(LowestCode(x.element)) - zero;
  input_high_ = x.encoding->code_high.value_or(HighestCode(x.element)) - zero;
}

bool LinearWeights::is_unsigned() const {
  return LowestCode(weights_->type) == 0;
}

int32_t LinearWeights::code(int64_t n, int64_t k) const {
  int64_t at = n * depth_ + k;
  if (columns_) {
    at = k * outputs_ + n;
  } else if (taps_ > 1) {  // stored channel by channel, read tap by tap
    at = n * depth_ + k % inner_ * taps_ + k / inner_;
  }
  return static_cast<int32_t>(weights_->integer(at));
}

int32_t LinearWeights::zero(int64_t n) const {
  return static_cast<int32_t>(encoding_->zero_point(n));
}

void LinearWeights::AccumulatorRange(int64_t n, int64_t* low,
                                     int64_t* high) const {
  // A padded position counts as zero.
  const int64_t least = std::min<int64_t>(input_low_, 0);
  const int64_t most = std::max<int64_t>(input_high_, 0);
  *low = *high = 0;
  for (int64_t k = 0; k < depth_; ++k) {
    const int64_t w = code(n, k) - zero(n);
    *low += std::min(w * least, w * most);
    *high += std::max(w * least, w * most);
  }
}

}  // namespace fold
