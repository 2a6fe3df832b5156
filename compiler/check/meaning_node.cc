#include <set>
#include <utility>

#include "compiler/check/meaning.h"

namespace fold::check {
namespace {

using Inputs = std::vector<const Value*>;

const Value* At(const Inputs& in, size_t i) {
  return i < in.size() ? in[i] : nullptr;
}

// The parameters of a QLinear operand that starts at input `i`.
Value Operand(const Inputs& in, size_t i, int64_t axis) {
  if (At(in, i) == nullptr || At(in, i + 1) == nullptr) {
    return UnknownValue("a missing operand");
  }
  return Dequantize(*in[i], *in[i + 1], At(in, i + 2), axis);
}

Value Result(const Scope& scope, const Value& x, const Inputs& in, size_t i) {
  if (At(in, i) == nullptr) return UnknownValue("a missing operand");
  return Quantize(scope, x, *in[i], At(in, i + 1), 1, 0);
}

// A bias of QLinearConv or QGemm: its scale is the product of the two.
Value ScaledBias(const Scope& scope, const Inputs& in, size_t bias,
                 size_t x_scale, size_t w_scale) {
  if (At(in, bias) == nullptr || At(in, x_scale) == nullptr ||
      At(in, w_scale) == nullptr) {
    return UnknownValue("a missing operand");
  }
  const Value scale = Combine(scope, Binary::kMul, *in[x_scale], *in[w_scale]);
  return Combine(scope, Binary::kMul, *in[bias], scale);
}

Value QLinear(const Scope& scope, const Inputs& in) {
  const std::string& op = scope.node->op_type();
  const Attributes& attributes = scope.attributes;
  if (op == "QLinearConv") {
    Value bias;
    const bool biased = At(in, 8) != nullptr;
    if (biased) bias = ScaledBias(scope, in, 8, 1, 4);
    const Value y = Convolve(scope, Operand(in, 0, 1), Operand(in, 3, 0),
                             biased ? &bias : nullptr);
    return Result(scope, y, in, 6);
  }
  if (op == "QLinearMatMul") {
    return Result(
        scope, Multiply(scope, Operand(in, 0, -2), Operand(in, 3, -1)), in, 6);
  }
  if (op == "QGemm") {
    const bool transposed = attributes.Int("transB", 0) != 0;
    Value y = GemmProduct(scope, Operand(in, 0, 1),
                          Operand(in, 3, transposed ? 0 : 1),
                          attributes.Int("transA", 0) != 0, transposed);
    const Value alpha = RealsValue({}, onnx::TensorProto::FLOAT,
                                   {attributes.Float("alpha", 1)});
    y = Combine(scope, Binary::kMul, y, alpha);
    if (At(in, 6) != nullptr) {
      y = Combine(scope, Binary::kAdd, y, ScaledBias(scope, in, 6, 1, 4));
    }
    return At(in, 7) != nullptr ? Result(scope, y, in, 7) : y;
  }
  if (op == "QLinearAdd" || op == "QLinearMul") {
    const Binary kind = op == "QLinearAdd" ? Binary::kAdd : Binary::kMul;
    return Result(scope,
                  Combine(scope, kind, Operand(in, 0, 1), Operand(in, 3, 1)),
                  in, 6);
  }
  if (op == "QLinearConcat") {
    std::vector<Value> parts;
    for (size_t i = 2; i + 2 < in.size(); i += 3) {
      parts.push_back(Operand(in, i, 1));
    }
    Inputs pointers;
    for (const Value& part : parts) pointers.push_back(&part);
    return Result(scope, Join(scope, pointers, attributes.Int("axis", 0)), in,
                  0);
  }
  if (attributes.Int("channels_last", 0) != 0) {
    return UnknownValue("a channels-last operator");
  }
  Value x = Operand(in, 0, 1);
  if (op == "QLinearAveragePool") {
    return Result(scope, AveragePool(scope, x), in, 3);
  }
  if (op == "QLinearGlobalAveragePool" && x.known()) {
    std::vector<int64_t> axes;
    for (size_t d = 2; d < x.shape.size(); ++d) {
      axes.push_back(static_cast<int64_t>(d));
    }
    return Result(scope, ReduceOver(scope, x, "Mean", axes, true), in, 3);
  }
  if (!x.known()) return x;
  scope.operands->push_back(x);
  return Result(scope, Opaque(scope, x.shape, onnx::TensorProto::FLOAT), in, 3);
}

Value Gemm(const Scope& scope, const Inputs& in) {
  const Attributes& attributes = scope.attributes;
  Value y = GemmProduct(scope, *in[0], *in[1], attributes.Int("transA", 0) != 0,
                        attributes.Int("transB", 0) != 0);
  const double alpha = attributes.Float("alpha", 1);
  const double beta = attributes.Float("beta", 1);
  if (alpha != 1) {
    y = Combine(scope, Binary::kMul, y, RealsValue({}, in[0]->type, {alpha}));
  }
  if (At(in, 2) == nullptr) return y;
  if (beta == 1) return Combine(scope, Binary::kAdd, y, *in[2]);
  const Value c =
      Combine(scope, Binary::kMul, *in[2], RealsValue({}, in[0]->type, {beta}));
  return Combine(scope, Binary::kAdd, y, c);
}

// One end of a Clip, from an input or from an attribute of old versions.
bool ClipEnd(const Scope& scope, const Inputs& in, size_t input,
             const std::string& name, std::optional<Number>* end) {
  if (At(in, input) != nullptr) {
    if (!in[input]->constant() || in[input]->size() != 1) return false;
    const Number number = ConstantAt(*in[input], 0);
    if (number.decidable()) *end = number;  // an infinity bounds nothing
    return true;
  }
  const onnx::AttributeProto* attribute = scope.attributes.Find(name);
  if (attribute == nullptr) return true;
  const Number number = Number::FromDouble(attribute->f());
  if (number.decidable()) *end = number;
  return true;
}

Value Clip(const Scope& scope, const Inputs& in) {
  Interval interval;
  if (!ClipEnd(scope, in, 1, "min", &interval.low) ||
      !ClipEnd(scope, in, 2, "max", &interval.high)) {
    return UnknownValue("a Clip by computed bounds");
  }
  return ClampTo(scope, *in[0], interval);
}

Value Reduction(const Scope& scope, const Inputs& in, const std::string& kind) {
  std::vector<int64_t> axes = scope.attributes.Ints("axes");
  if (At(in, 1) != nullptr && !ConstantInts(*in[1], &axes)) {
    return UnknownValue("computed axes");
  }
  if (axes.empty() && scope.attributes.Int("noop_with_empty_axes", 0) != 0) {
    return *in[0];
  }
  return ReduceOver(scope, *in[0], kind, axes,
                    scope.attributes.Int("keepdims", 1) != 0);
}

Value GlobalPool(const Scope& scope, const Value& x, const std::string& kind) {
  std::vector<int64_t> axes;
  for (size_t d = 2; d < x.shape.size(); ++d) {
    axes.push_back(static_cast<int64_t>(d));
  }
  if (axes.empty()) return UnknownValue("a pool of this rank");
  return ReduceOver(scope, x, kind, axes, true);
}

Value ConstantNode(const Scope& scope) {
  const Attributes& a = scope.attributes;
  if (const auto* value = a.Find("value")) return ReadTensor(value->t());
  if (const auto* value = a.Find("value_float")) {
    return RealsValue({}, onnx::TensorProto::FLOAT, {value->f()});
  }
  if (const auto* value = a.Find("value_int")) {
    return IntsValue({}, onnx::TensorProto::INT64, {value->i()});
  }
  if (const auto* value = a.Find("value_ints")) {
    const auto size = static_cast<int64_t>(value->ints_size());
    return IntsValue({size}, onnx::TensorProto::INT64, a.Ints("value_ints"));
  }
  if (const auto* value = a.Find("value_floats")) {
    return RealsValue({static_cast<int64_t>(value->floats_size())},
                      onnx::TensorProto::FLOAT,
                      {value->floats().begin(), value->floats().end()});
  }
  return UnknownValue("a Constant of this kind");
}

Value ConstantOfShape(const Scope& scope, const Inputs& in) {
  std::vector<int64_t> shape;
  if (At(in, 0) == nullptr || !ConstantInts(*in[0], &shape)) {
    return UnknownValue("a computed shape");
  }
  constexpr int64_t kMost = int64_t{1} << 28;
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count) ||
        count > kMost) {
      return UnknownValue("a bad shape");
    }
  }
  Value one = RealsValue({1}, onnx::TensorProto::FLOAT, {0.0});
  if (const auto* value = scope.attributes.Find("value")) {
    one = ReadTensor(value->t());
    if (!one.known() || one.size() != 1) {
      return UnknownValue("a ConstantOfShape of no single value");
    }
  }
  return Gather(one, shape, std::vector<int64_t>(ElementCount(shape), 0));
}

std::optional<Binary> BinaryOf(const std::string& op) {
  if (op == "Add") return Binary::kAdd;
  if (op == "Sub") return Binary::kSub;
  if (op == "Mul") return Binary::kMul;
  if (op == "Div") return Binary::kDiv;
  return std::nullopt;
}

// Functions that keep the shape and that have no exact form here.
bool KeepsShape(const std::string& op) {
  static const std::set<std::string>* const names =
      new std::set<std::string>{"Softmax",
                                "LogSoftmax",
                                "Sigmoid",
                                "Tanh",
                                "Erf",
                                "Exp",
                                "Log",
                                "Gelu",
                                "LeakyRelu",
                                "Elu",
                                "HardSigmoid",
                                "HardSwish",
                                "Softplus",
                                "Neg",
                                "Abs",
                                "Reciprocal",
                                "LayerNormalization",
                                "Floor",
                                "Ceil",
                                "Pow"};
  return names->count(op) != 0;
}

Value FromConstantOrOpaque(const Scope& scope, const Value& x) {
  if (scope.node->op_type() == "Sqrt" && x.constant()) {
    std::vector<Number> roots;
    for (int64_t i = 0; i < x.size(); ++i) {
      roots.push_back(Number::SquareRoot(ConstantAt(x, i)));
    }
    return ExactValue(x.shape, x.type, std::move(roots));
  }
  return Opaque(scope, x.shape, x.type);
}

// Min or Max of a value and one constant number.
Value Extreme(const Scope& scope, const Inputs& in) {
  const bool first = in[0]->constant();
  const Value& bound = *in[first ? 0 : 1];
  if (in.size() != 2 || !bound.constant() || bound.size() != 1) {
    return UnknownValue("a Min or Max of two values");
  }
  const Number number = ConstantAt(bound, 0);
  const Interval interval = scope.node->op_type() == "Min"
                                ? Interval{std::nullopt, number}
                                : Interval{number, std::nullopt};
  return ClampTo(scope, *in[first ? 1 : 0], interval);
}

Value EvaluateFirst(const Scope& scope, const Inputs& in) {
  const std::string& op = scope.node->op_type();
  const Attributes& a = scope.attributes;
  if (op == "Constant") return ConstantNode(scope);
  if (op == "ConstantOfShape") return ConstantOfShape(scope, in);
  for (const Value* x : in) {
    if (x != nullptr && !x->known()) return *x;
  }
  if (op.rfind("QLinear", 0) == 0 || op == "QGemm") return QLinear(scope, in);
  if (IsMovement(op)) return Move(scope, in);
  const size_t least = op == "Relu" || op == "Clip" ? 1 : 0;
  if (in.size() < least || At(in, 0) == nullptr) {
    return UnknownValue("a missing input");
  }
  const Value& x = *in[0];
  const bool two = At(in, 1) != nullptr;
  if (op == "Relu") return ClampTo(scope, x, {Number(0), std::nullopt});
  if (op == "Clip") return Clip(scope, in);
  if (op == "MaxPool") return MaxPool(scope, x);
  if (op == "AveragePool") return AveragePool(scope, x);
  if (op == "GlobalAveragePool") return GlobalPool(scope, x, "Mean");
  if (op == "GlobalMaxPool") return GlobalPool(scope, x, "Max");
  if (op == "ReduceMean") return Reduction(scope, in, "Mean");
  if (op == "ReduceSum") return Reduction(scope, in, "Sum");
  if (op == "ReduceMax") return Reduction(scope, in, "Max");
  if (op == "BatchNormalization") {
    return BatchNormalize(x, in, a.Float("epsilon", 1e-5F));
  }
  if (op == "Shape") {
    return IntsValue({static_cast<int64_t>(x.shape.size())},
                     onnx::TensorProto::INT64, x.shape);
  }
  if (KeepsShape(op) || op == "Sqrt") return FromConstantOrOpaque(scope, x);
  if (IsQonnx(op)) return Qonnx(scope, in);
  if (two && (op == "Min" || op == "Max")) return Extreme(scope, in);
  if (!two) return UnknownValue("operator " + op + " is not known here");
  if (op == "QuantizeLinear" || op == "DequantizeLinear") {
    if (a.Int("block_size", 0) != 0) {
      return UnknownValue("blocked quantization");
    }
    const int64_t axis = a.Int("axis", 1);
    if (op == "DequantizeLinear") {
      return Dequantize(x, *in[1], At(in, 2), axis);
    }
    return Quantize(scope, x, *in[1], At(in, 2), axis,
                    static_cast<int>(a.Int("output_dtype", 0)));
  }
  if (op == "Conv") return Convolve(scope, x, *in[1], At(in, 2));
  if (op == "Gemm") return Gemm(scope, in);
  if (op == "MatMul") return Multiply(scope, x, *in[1]);
  if (const auto kind = BinaryOf(op)) return Combine(scope, *kind, x, *in[1]);
  return UnknownValue("operator " + op + " is not known here");
}

}  // namespace

std::vector<Value> Evaluate(const Scope& scope, const Inputs& in) {
  const std::string& op = scope.node->op_type();
  std::vector<Value> out(scope.node->output_size(),
                         UnknownValue("an output that is not known here"));
  if (out.empty()) return out;
  if (op != "Split") {
    out[0] = EvaluateFirst(scope, in);
    return out;
  }
  if (At(in, 0) == nullptr || !in[0]->known()) return out;
  const Value& x = *in[0];
  std::vector<int64_t> parts = scope.attributes.Ints("split");
  if (At(in, 1) != nullptr && !ConstantInts(*in[1], &parts)) return out;
  int64_t axis = scope.attributes.Int("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(x.shape.size());
  if (axis < 0 || axis >= static_cast<int64_t>(x.shape.size())) return out;
  const auto count = static_cast<int64_t>(out.size());
  const int64_t even = (x.shape[axis] + count - 1) / count;
  const int64_t inner = Strides(x.shape)[axis];
  int64_t start = 0;
  for (int64_t p = 0; p < count; ++p) {
    const int64_t left = x.shape[axis] - start;
    const int64_t size = parts.empty() ? std::min(even, left) : parts[p];
    if (size < 0 || size > left) return out;
    Shape shape = x.shape;
    shape[axis] = size;
    std::vector<int64_t> index;
    for (int64_t i = 0; i < ElementCount(shape); ++i) {
      const int64_t low = i % inner;
      const int64_t along = i / inner % size;
      const int64_t outer = i / inner / size;
      index.push_back((outer * x.shape[axis] + start + along) * inner + low);
    }
    out[p] = Gather(x, shape, index);
    start += size;
  }
  return out;
}

}  // namespace fold::check
