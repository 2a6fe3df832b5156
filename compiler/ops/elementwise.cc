// Add, Sub, Mul, Div, Pow, scaled reciprocal, Relu, Clip, Softmax.
#include <algorithm>
#include <cmath>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/specs.h"

namespace fold {
namespace {

std::optional<Shape> InferBroadcast(const OperandView& view,
                                    std::string* fault) {
  auto shape = BroadcastShape(view.types[0].shape, view.types[1].shape);
  if (!shape) *fault = "the operands' shapes do not broadcast";
  return shape;
}

std::optional<Shape> InferFirst(const OperandView& view, std::string*) {
  return view.types[0].shape;
}

// a op b without rounding, nullopt where a double would have to round.
std::optional<double> ExactReal(Op op, double a, double b) {
  double result = 0, error = 0;
  switch (op) {
    case Op::kSub:
      b = -b;
      [[fallthrough]];
    case Op::kAdd: {
      result = a + b;
      // Knuth's two-sum: the part that the sum lost.
      const double part = result - a;
      error = (a - (result - part)) + (b - part);
      break;
    }
    case Op::kMul:
      result = a * b;
      error = std::fma(a, b, -result);
      break;
    case Op::kDiv:
      result = a / b;
      error = std::fma(result, b, -a);
      break;
    case Op::kPow:
      if (b == 1) return a;
      if (b == 2) return ExactReal(Op::kMul, a, a);
      if (b != 0.5 || a < 0) return std::nullopt;
      result = std::sqrt(a);
      error = std::fma(result, result, -a);
      break;
    default:
      return std::nullopt;
  }
  if (!std::isfinite(result) || error != 0) return std::nullopt;
  return result;
}

std::optional<int64_t> ExactInteger(Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case Op::kAdd:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt
                                                   : std::optional(result);
    case Op::kSub:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt
                                                   : std::optional(result);
    case Op::kMul:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt
                                                   : std::optional(result);
    case Op::kDiv:  // ONNX integer division truncates
      if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
      return a / b;
    default:
      return std::nullopt;
  }
}

TensorPtr EvaluateBinary(const OperandView& view) {
  const Tensor &a = *view.constants[0], &b = *view.constants[1];
  const auto shape = BroadcastShape(a.shape, b.shape);
  if (!shape || IsInteger(a.type) != IsInteger(b.type)) return nullptr;
  const Op op = OpOf(view.node);
  const int64_t count = ElementCount(*shape);
  std::vector<int64_t> integers;
  std::vector<double> reals;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t ia = BroadcastIndex(i, *shape, a.shape);
    const int64_t ib = BroadcastIndex(i, *shape, b.shape);
    if (IsInteger(a.type)) {
      const auto y = ExactInteger(op, a.integer(ia), b.integer(ib));
      if (!y) return nullptr;
      integers.push_back(*y);
    } else {
      const auto y = ExactReal(op, a.real(ia), b.real(ib));
      if (!y) return nullptr;
      reals.push_back(*y);
    }
  }
  // The sum or product of two float32 numbers is a double, not a float32.
  return IsInteger(a.type) ? MakeIntegerTensor(a.type, *shape, integers)
                           : MakeRealTensor(ElementType::f64, *shape, reals);
}

// Relu and Clip of constants; an absent bound does not bind.
TensorPtr EvaluateActivation(const OperandView& view) {
  const Tensor& x = *view.constants[0];
  const bool relu = OpOf(view.node) == Op::kRelu;
  const auto bound = [&](size_t at, const char* key, double otherwise) {
    if (view.constants.size() > at && view.constants[at]) {
      return view.constants[at]->real(0);
    }
    return view.node.attribute<double>(key, otherwise);
  };
  const double low = relu ? 0 : bound(1, "min", -INFINITY);
  const double high = relu ? INFINITY : bound(2, "max", INFINITY);
  if (x.type == ElementType::i64 || x.type == ElementType::u64) return nullptr;
  if (IsInteger(x.type)) {
    std::vector<int64_t> y(x.size());
    for (int64_t i = 0; i < x.size(); ++i) {
      y[i] = static_cast<int64_t>(
          std::min(std::max(static_cast<double>(x.integer(i)), low), high));
    }
    return MakeIntegerTensor(x.type, x.shape, y);
  }
  if (!IsFloat(x.type)) return nullptr;
  std::vector<double> y(x.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    y[i] = std::min(std::max(x.real(i), low), high);
  }
  return MakeRealTensor(x.type, x.shape, y);
}

// The coefficient over x: it broadcasts against x and never widens it.
std::optional<Shape> InferReciprocal(const OperandView& view,
                                     std::string* fault) {
  auto shape = BroadcastShape(view.types[0].shape, view.types[1].shape);
  if (shape && *shape == view.types[0].shape) return shape;
  *fault = "the coefficient does not broadcast to the operand";
  return std::nullopt;
}

}  // namespace

const OpSpec kScaledReciprocalSpec = {"", EncodingRule::kFixing,
                                      InferReciprocal, nullptr, true};
const OpSpec kElementwiseSpec = {"axis,broadcast", EncodingRule::kFixing,
                                 InferBroadcast, EvaluateBinary, true};
const OpSpec kActivationSpec = {"min,max", EncodingRule::kFixing, InferFirst,
                                EvaluateActivation, true};
const OpSpec kUnarySpec = {"axis", EncodingRule::kFixing, InferFirst, nullptr,
                           true};

}  // namespace fold
