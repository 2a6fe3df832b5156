// Round, Floor, Ceil, Neg, Abs, Sign, Min, Max: element by element, and exact
// on every number.
#include <algorithm>
#include <cmath>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/specs.h"

namespace fold {
namespace {

std::optional<Shape> InferFirst(const OperandView& view, std::string*) {
  return view.types[0].shape;
}

std::optional<Shape> InferAll(const OperandView& view, std::string* fault) {
  Shape shape = view.types[0].shape;
  for (const TensorType& type : view.types) {
    const auto both = BroadcastShape(shape, type.shape);
    if (!both) {
      *fault = "the operands' shapes do not broadcast";
      return std::nullopt;
    }
    shape = *both;
  }
  return shape;
}

// Half to even, whatever the processor's rounding mode is.
double NearestEven(double x) {
  const double down = std::floor(x), part = x - down;
  if (part != 0.5) return part < 0.5 ? down : down + 1;
  return std::fmod(down, 2) == 0 ? down : down + 1;
}

double RealOf(Op op, double x) {
  switch (op) {
    case Op::kRound:
      return NearestEven(x);
    case Op::kFloor:
      return std::floor(x);
    case Op::kCeil:
      return std::ceil(x);
    case Op::kNeg:
      return -x;
    case Op::kAbs:
      return std::fabs(x);
    default:  // kSign
      return x > 0 ? 1 : x < 0 ? -1 : x;
  }
}

// -INT64_MIN has no number.
std::optional<int64_t> IntegerOf(Op op, int64_t x, ElementType type) {
  if (type == ElementType::u64 || x == INT64_MIN) return std::nullopt;
  const int64_t y = op == Op::kNeg    ? -x
                    : op == Op::kAbs  ? std::abs(x)
                    : op == Op::kSign ? (x > 0) - (x < 0)
                                      : x;
  if (type == ElementType::i64) return y;
  return y < LowestCode(type) || y > HighestCode(type) ? std::nullopt
                                                       : std::optional(y);
}

TensorPtr EvaluateOne(const OperandView& view) {
  const Tensor& x = *view.constants[0];
  const Op op = OpOf(view.node);
  if (IsFloat(x.type)) {
    std::vector<double> y(x.size());
    for (int64_t i = 0; i < x.size(); ++i) y[i] = RealOf(op, x.real(i));
    return MakeRealTensor(x.type, x.shape, y);
  }
  if (!IsInteger(x.type)) return nullptr;
  std::vector<int64_t> y(x.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto one = IntegerOf(op, x.integer(i), x.type);
    if (!one) return nullptr;
    y[i] = *one;
  }
  return MakeIntegerTensor(x.type, x.shape, y);
}

// The operands' one type: f64 if a constant of f32 has become one.
std::optional<ElementType> CommonType(const OperandView& view) {
  ElementType type = view.constants[0]->type;
  for (const TensorPtr& constant : view.constants) {
    if (constant->type == type) continue;
    if (!IsFloat(constant->type) || !IsFloat(type)) return std::nullopt;
    type = ElementType::f64;
  }
  return type;
}

TensorPtr EvaluateExtreme(const OperandView& view) {
  std::string fault;
  const auto shape = InferAll(view, &fault);
  const auto type = CommonType(view);
  if (!shape || !type || *type == ElementType::u64) return nullptr;
  const bool least = OpOf(view.node) == Op::kMin;
  const int64_t count = ElementCount(*shape);
  std::vector<double> reals;
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = [&](const TensorPtr& tensor) {
      return BroadcastIndex(i, *shape, tensor->shape);
    };
    if (IsFloat(*type)) {
      double y = view.constants[0]->real(at(view.constants[0]));
      for (const TensorPtr& tensor : view.constants) {
        const double x = tensor->real(at(tensor));
        if (std::isnan(x) || std::isnan(y)) return nullptr;
        y = least ? std::min(x, y) : std::max(x, y);
      }
      reals.push_back(y);
    } else {
      int64_t y = view.constants[0]->integer(at(view.constants[0]));
      for (const TensorPtr& tensor : view.constants) {
        const int64_t x = tensor->integer(at(tensor));
        y = least ? std::min(x, y) : std::max(x, y);
      }
      integers.push_back(y);
    }
  }
  return IsFloat(*type) ? MakeRealTensor(*type, *shape, reals)
                        : MakeIntegerTensor(*type, *shape, integers);
}

}  // namespace

const OpSpec kPointwiseSpec = {"", EncodingRule::kFixing, InferFirst,
                               EvaluateOne, true};
const OpSpec kExtremeSpec = {"", EncodingRule::kFixing, InferAll,
                             EvaluateExtreme, true};

}  // namespace fold
