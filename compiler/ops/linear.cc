// Conv, Gemm, MatMul, BatchNormalization.
#include "compiler/ops/broadcast.h"
#include "compiler/ops/specs.h"
#include "compiler/ops/window.h"

namespace fold {
namespace {

std::optional<Shape> InferConv(const OperandView& view, std::string* fault) {
  const Shape& x = view.types[0].shape;
  const Shape& w = view.types[1].shape;
  const int64_t group = view.node.attribute<int64_t>("group", 1);
  if (x.size() < 3 || w.size() != x.size() || group < 1 || w[0] < 1 ||
      x[1] != w[1] * group || w[0] % group != 0) {
    *fault = "the weights do not fit the input's channels and groups";
    return std::nullopt;
  }
  const Shape kernel(w.begin() + 2, w.end());
  const auto window = WindowOf(view.node, x, kernel, fault);
  if (!window) return std::nullopt;
  Shape shape = {x[0], w[0]};
  for (const WindowAxis& axis : *window) shape.push_back(axis.output);
  return shape;
}

std::optional<Shape> InferGemm(const OperandView& view, std::string* fault) {
  const Shape& a = view.types[0].shape;
  const Shape& b = view.types[1].shape;
  const bool ta = view.node.attribute<int64_t>("transA", 0) != 0;
  const bool tb = view.node.attribute<int64_t>("transB", 0) != 0;
  if (a.size() != 2 || b.size() != 2 || a[ta ? 0 : 1] != b[tb ? 1 : 0]) {
    *fault = "the matrices of a Gemm do not fit";
    return std::nullopt;
  }
  return Shape{a[ta ? 1 : 0], b[tb ? 0 : 1]};
}

std::optional<Shape> InferMatMul(const OperandView& view, std::string* fault) {
  Shape a = view.types[0].shape, b = view.types[1].shape;
  if (a.empty() || b.empty()) {
    *fault = "MatMul does not take scalars";
    return std::nullopt;
  }
  const bool vector_a = a.size() == 1, vector_b = b.size() == 1;
  if (vector_a) a.insert(a.begin(), 1);
  if (vector_b) b.push_back(1);
  if (a.back() != b[b.size() - 2]) {
    *fault = "the matrices of a MatMul do not fit";
    return std::nullopt;
  }
  const auto batch = BroadcastShape(Shape(a.begin(), a.end() - 2),
                                    Shape(b.begin(), b.end() - 2));
  if (!batch) {
    *fault = "the batch dimensions of a MatMul do not fit";
    return std::nullopt;
  }
  Shape shape = *batch;
  if (!vector_a) shape.push_back(a[a.size() - 2]);
  if (!vector_b) shape.push_back(b.back());
  return shape;
}

std::optional<Shape> InferFirst(const OperandView& view, std::string*) {
  return view.types[0].shape;
}

}  // namespace

const OpSpec kConvSpec = {"auto_pad,dilations,group,kernel_shape,pads,strides",
                          EncodingRule::kFixing, InferConv, nullptr, false};
const OpSpec kGemmSpec = {"alpha,beta,transA,transB", EncodingRule::kFixing,
                          InferGemm, nullptr, false};
const OpSpec kMatMulSpec = {"", EncodingRule::kFixing, InferMatMul, nullptr,
                            false};
const OpSpec kBatchNormSpec = {"epsilon,momentum,training_mode,spatial",
                               EncodingRule::kFixing, InferFirst, nullptr,
                               true};

}  // namespace fold
