#include "tests/regress/ideal.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

namespace fold::regress {
namespace {

using onnx::TensorProto;

const onnx::AttributeProto* Find(const onnx::NodeProto& node,
                                 const std::string& key) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == key) return &attribute;
  }
  return nullptr;
}

template <typename T>
std::vector<mpq_class> FromRaw(const std::string& raw) {
  std::vector<mpq_class> numbers;
  for (size_t at = 0; at + sizeof(T) <= raw.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, raw.data() + at, sizeof(T));
    numbers.emplace_back(static_cast<double>(value));
  }
  return numbers;
}

std::vector<mpq_class> RawNumbers(const TensorProto& tensor) {
  const std::string& raw = tensor.raw_data();
  switch (tensor.data_type()) {
    case TensorProto::FLOAT:
      return FromRaw<float>(raw);
    case TensorProto::INT8:
      return FromRaw<int8_t>(raw);
    case TensorProto::BOOL:
    case TensorProto::UINT8:
      return FromRaw<uint8_t>(raw);
    case TensorProto::INT32:
      return FromRaw<int32_t>(raw);
    default:
      return FromRaw<int64_t>(raw);
  }
}

// A normal number or zero of binary16.
mpq_class Half(int32_t bits) {
  if ((bits & 0x7fff) == 0) return 0;
  const double significand = 1 + (bits & 0x3ff) / 1024.0;
  const int exponent = ((bits >> 10) & 31) - 15;
  return mpq_class(
      std::ldexp(bits & 0x8000 ? -significand : significand, exponent));
}

Ideal FromTensor(const TensorProto& tensor) {
  Ideal x;
  x.type = tensor.data_type();
  x.shape.assign(tensor.dims().begin(), tensor.dims().end());
  if (tensor.has_raw_data()) {
    x.numbers = RawNumbers(tensor);
  } else if (x.type == TensorProto::INT4) {
    // Two to an entry, the first in the low half.
    for (int64_t i = 0; i < Count(x.shape); ++i) {
      const int32_t pair = tensor.int32_data(static_cast<int>(i / 2));
      const int code = (pair >> (i % 2 * 4)) & 15;
      x.numbers.emplace_back(code < 8 ? code : code - 16);
    }
  } else if (x.type == TensorProto::FLOAT16) {
    for (int32_t bits : tensor.int32_data()) x.numbers.push_back(Half(bits));
  } else if (x.type == TensorProto::FLOAT) {
    for (float value : tensor.float_data()) x.numbers.emplace_back(value);
  } else if (x.type == TensorProto::INT64) {
    for (int64_t value : tensor.int64_data()) x.numbers.emplace_back(value);
  } else {
    for (int32_t value : tensor.int32_data()) x.numbers.emplace_back(value);
  }
  return x;
}

mpq_class LowestOf(int32_t type) {
  switch (type) {
    case TensorProto::INT8:
      return -128;
    case TensorProto::INT16:
      return -32768;
    case TensorProto::INT32:
      return mpq_class(-2147483648.0);
    default:
      return 0;
  }
}

mpq_class HighestOf(int32_t type) {
  switch (type) {
    case TensorProto::INT8:
      return 127;
    case TensorProto::UINT8:
      return 255;
    case TensorProto::INT16:
      return 32767;
    case TensorProto::UINT16:
      return 65535;
    default:
      return mpq_class(2147483647.0);
  }
}

// The scale or zero point for the element at `at`.
const mpq_class& Parameter(const Ideal& parameter, const Shape& at,
                           int64_t axis) {
  if (parameter.numbers.size() == 1) return parameter.numbers[0];
  return parameter.numbers[at[axis]];
}

int64_t AxisOf(int64_t axis, const Ideal& x) {
  return axis < 0 ? axis + static_cast<int64_t>(x.shape.size()) : axis;
}

Ideal Dequantize(const Ideal& x, const Ideal& scale, const Ideal* zero,
                 int64_t axis) {
  Ideal y = {TensorProto::FLOAT, x.shape, x.numbers};
  for (size_t i = 0; i < y.numbers.size(); ++i) {
    const Shape at = Coordinates(static_cast<int64_t>(i), x.shape);
    if (zero) y.numbers[i] -= Parameter(*zero, at, AxisOf(axis, x));
    y.numbers[i] *= Parameter(scale, at, AxisOf(axis, x));
  }
  return y;
}

Ideal Quantize(const Ideal& x, const Ideal& scale, const Ideal* zero,
               int64_t axis, int32_t otherwise = TensorProto::UINT8) {
  Ideal y = {zero ? zero->type : otherwise, x.shape, {}};
  const mpq_class low = LowestOf(y.type), high = HighestOf(y.type);
  for (size_t i = 0; i < x.numbers.size(); ++i) {
    const Shape at = Coordinates(static_cast<int64_t>(i), x.shape);
    mpq_class code =
        RoundHalfEven(x.numbers[i] / Parameter(scale, at, AxisOf(axis, x)));
    if (zero) code += Parameter(*zero, at, AxisOf(axis, x));
    y.numbers.push_back(std::min(std::max(code, low), high));
  }
  return y;
}

using Binary = std::function<mpq_class(const mpq_class&, const mpq_class&)>;

Ideal Elementwise(const Ideal& a, const Ideal& b, const Binary& op) {
  Ideal y = {a.type, BroadcastShapes(a.shape, b.shape), {}};
  for (int64_t i = 0; i < Count(y.shape); ++i) {
    const Shape at = Coordinates(i, y.shape);
    y.numbers.push_back(op(Broadcast(a, at), Broadcast(b, at)));
  }
  return y;
}

const mpq_class Sum(const mpq_class& a, const mpq_class& b) { return a + b; }
const mpq_class Product(const mpq_class& a, const mpq_class& b) {
  return a * b;
}

// Beyond every scale, where infinity would be: what is quantized next
// saturates. 0/0 is no number, whose code is the zero point, real 0.
const mpq_class Quotient(const mpq_class& a, const mpq_class& b) {
  static const mpq_class kBeyond(mpz_class("1" + std::string(60, '0')));
  if (b != 0) return a / b;
  return sgn(a) * kBeyond;
}

std::optional<Binary> BinaryOf(const std::string& op) {
  using Q = mpq_class;
  if (op == "Add") return Binary(Sum);
  if (op == "Mul") return Binary(Product);
  if (op == "Sub") return [](const Q& a, const Q& b) { return Q(a - b); };
  if (op == "Div") return Binary(Quotient);
  if (op == "Equal") return [](const Q& a, const Q& b) { return Q(a == b); };
  return std::nullopt;
}

Ideal Clamp(const Call& call) {
  Ideal y = *call.in[0];
  const bool relu = call.node.op_type() == "Relu";
  for (mpq_class& number : y.numbers) {
    if (relu) number = std::max<mpq_class>(number, 0);
    if (call.has(1)) number = std::max(number, call.in[1]->numbers[0]);
    if (call.has(2)) number = std::min(number, call.in[2]->numbers[0]);
  }
  return y;
}

Ideal GemmOf(const Call& call, Ideal a, Ideal b, const Ideal* c) {
  const auto transpose = [](const Ideal& x) {
    Ideal y = {x.type, {x.shape[1], x.shape[0]}, {}};
    for (int64_t i = 0; i < Count(y.shape); ++i) {
      const Shape at = Coordinates(i, y.shape);
      y.numbers.push_back(x.numbers[Place({at[1], at[0]}, x.shape)]);
    }
    return y;
  };
  if (call.integer("transA", 0)) a = transpose(a);
  if (call.integer("transB", 0)) b = transpose(b);
  Ideal y = MatMulOf(a, b);
  const mpq_class alpha(call.real("alpha", 1)), beta(call.real("beta", 1));
  for (mpq_class& number : y.numbers) number *= alpha;
  if (!c) return y;
  return Elementwise(y, *c, [&](const mpq_class& s, const mpq_class& bias) {
    return mpq_class(s + beta * bias);
  });
}

// Root of a rational: exact where it is rational, else to 600 bits, far beyond
// what any distance to a tie of a test network needs.
mpq_class Root(const mpq_class& x) {
  const mpz_class& n = x.get_num();
  const mpz_class& d = x.get_den();
  if (mpz_perfect_square_p(n.get_mpz_t()) &&
      mpz_perfect_square_p(d.get_mpz_t())) {
    return mpq_class(sqrt(n), sqrt(d));
  }
  return mpq_class(sqrt(mpf_class(x, 600)));
}

Ideal BatchNorm(const Call& call) {
  Ideal y = *call.in[0];
  const mpq_class epsilon(
      static_cast<double>(static_cast<float>(call.real("epsilon", 1e-5f))));
  for (size_t i = 0; i < y.numbers.size(); ++i) {
    const int64_t c = Coordinates(static_cast<int64_t>(i), y.shape)[1];
    y.numbers[i] = (y.numbers[i] - call.in[3]->numbers[c]) *
                       call.in[1]->numbers[c] /
                       Root(call.in[4]->numbers[c] + epsilon) +
                   call.in[2]->numbers[c];
  }
  return y;
}

// The operands [code, scale, zero] from `at` on, as real numbers.
Ideal Real(const Call& call, size_t at, int64_t axis = 0) {
  const Ideal* zero = call.has(at + 2) ? call.in[at + 2] : nullptr;
  return Dequantize(*call.in[at], *call.in[at + 1], zero, axis);
}

Ideal Bias(const Call& call, size_t at, const mpq_class& factor) {
  Ideal bias = *call.in[at];
  for (size_t i = 0; i < bias.numbers.size(); ++i) {
    const auto& scales = call.in[4]->numbers;
    bias.numbers[i] *=
        factor * call.in[1]->numbers[0] * scales[scales.size() == 1 ? 0 : i];
  }
  return bias;
}

Ideal Code(const Call& call, const Ideal& y, size_t at) {
  return Quantize(y, *call.in[at], call.has(at + 1) ? call.in[at + 1] : nullptr,
                  0);
}

bool EvaluateQLinear(const Call& call, Ideal* y) {
  const std::string& op = call.node.op_type();
  if (op == "QLinearConv") {
    const Ideal bias = call.has(8) ? Bias(call, 8, 1) : Ideal();
    *y = Code(call,
              ConvOf(call, Real(call, 0), Real(call, 3),
                     call.has(8) ? &bias : nullptr),
              6);
  } else if (op == "QLinearMatMul") {
    *y = Code(call, MatMulOf(Real(call, 0), Real(call, 3, -1)), 6);
  } else if (op == "QLinearAdd" || op == "QLinearMul") {
    *y = Code(call,
              Elementwise(Real(call, 0), Real(call, 3),
                          op == "QLinearAdd" ? Binary(Sum) : Binary(Product)),
              6);
  } else if (op == "QLinearAveragePool") {
    *y = Code(call, AveragePoolOf(call, Real(call, 0)), 3);
  } else if (op == "QLinearGlobalAveragePool") {
    *y = Code(call, GlobalAverageOf(Real(call, 0)), 3);
  } else if (op == "QGemm") {
    // C is added to the integer sums: alpha scales both.
    const mpq_class alpha(call.real("alpha", 1));
    const Ideal bias = call.has(6) ? Bias(call, 6, alpha) : Ideal();
    *y = GemmOf(call, Real(call, 0),
                Real(call, 3, call.integer("transB", 0) ? 0 : 1),
                call.has(6) ? &bias : nullptr);
    if (call.has(7)) *y = Code(call, *y, 7);
  } else if (op == "QLinearConcat") {
    std::vector<Ideal> parts;
    for (size_t at = 2; at + 2 < call.in.size(); at += 3) {
      parts.push_back(Real(call, at));
    }
    std::vector<const Ideal*> pointers;
    pointers.reserve(parts.size());
    for (const Ideal& part : parts) pointers.push_back(&part);
    *y = Code(call, ConcatOf(pointers, call.integer("axis", 0)), 0);
  } else {
    return false;
  }
  return true;
}

// QONNX's Quant with ROUND: onto a grid of so many bits, still a real number.
Ideal QuantOf(const Call& call) {
  const int64_t bits = call.in[3]->numbers[0].get_num().get_si();
  const bool is_signed = call.integer("signed", 1);
  const mpq_class low =
      is_signed ? -(mpz_class(1) << (bits - 1)) : mpz_class(0);
  const mpq_class high = low + (mpz_class(1) << bits) - 1;
  Ideal y = *call.in[0];
  for (size_t i = 0; i < y.numbers.size(); ++i) {
    const Shape at = Coordinates(static_cast<int64_t>(i), y.shape);
    const mpq_class& scale = Broadcast(*call.in[1], at);
    const mpq_class& zero = Broadcast(*call.in[2], at);
    const mpq_class code = RoundHalfEven(y.numbers[i] / scale + zero);
    y.numbers[i] = (std::min(std::max(code, low), high) - zero) * scale;
  }
  return y;
}

bool EvaluateArithmetic(const Call& call, Ideal* y) {
  const std::string& op = call.node.op_type();
  const Ideal* third = call.has(2) ? call.in[2] : nullptr;
  if (op == "QuantizeLinear") {
    const int64_t type = call.integer("output_dtype", TensorProto::UINT8);
    *y = Quantize(*call.in[0], *call.in[1], third, call.integer("axis", 1),
                  static_cast<int32_t>(type));
  } else if (op == "DequantizeLinear") {
    *y = Dequantize(*call.in[0], *call.in[1], third, call.integer("axis", 1));
  } else if (op == "Quant") {
    *y = QuantOf(call);
  } else if (op == "Relu" || op == "Clip") {
    *y = Clamp(call);
  } else if (op == "MatMul") {
    *y = MatMulOf(*call.in[0], *call.in[1]);
  } else if (op == "Gemm") {
    *y = GemmOf(call, *call.in[0], *call.in[1], third);
  } else if (op == "BatchNormalization") {
    *y = BatchNorm(call);
  } else if (const auto binary = BinaryOf(op)) {
    *y = Elementwise(*call.in[0], *call.in[1], *binary);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int64_t Call::integer(const std::string& key, int64_t otherwise) const {
  const auto* attribute = Find(node, key);
  return attribute ? attribute->i() : otherwise;
}
std::vector<int64_t> Call::integers(const std::string& key) const {
  const auto* attribute = Find(node, key);
  if (!attribute) return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}
double Call::real(const std::string& key, double otherwise) const {
  const auto* attribute = Find(node, key);
  return attribute ? attribute->f() : otherwise;
}
std::string Call::text(const std::string& key,
                       const std::string& otherwise) const {
  const auto* attribute = Find(node, key);
  return attribute ? attribute->s() : otherwise;
}
std::vector<int64_t> Call::list(const std::string& key, size_t i) const {
  if (!has(i)) return integers(key);
  std::vector<int64_t> values;
  for (const mpq_class& number : in[i]->numbers) {
    values.push_back(number.get_num().get_si());
  }
  return values;
}

mpz_class RoundHalfEven(const mpq_class& x) {
  mpz_class twice = x.get_num() * 2 + x.get_den(), down;
  const mpz_class denominator = x.get_den() * 2;
  mpz_fdiv_q(down.get_mpz_t(), twice.get_mpz_t(), denominator.get_mpz_t());
  const bool tie = down * denominator == twice;
  if (tie && mpz_odd_p(down.get_mpz_t())) down -= 1;
  return down;
}

int64_t Count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

Shape Coordinates(int64_t i, const Shape& shape) {
  Shape at(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    at[d] = i % shape[d];
    i /= shape[d];
  }
  return at;
}

int64_t Place(const Shape& at, const Shape& shape) {
  int64_t place = 0;
  for (size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + at[d];
  return place;
}

const mpq_class& Broadcast(const Ideal& x, const Shape& at) {
  Shape own(x.shape.size());
  for (size_t d = 0; d < own.size(); ++d) {
    own[d] = x.shape[d] == 1 ? 0 : at[at.size() - own.size() + d];
  }
  return x.numbers[Place(own, x.shape)];
}

Shape BroadcastShapes(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (const Shape* from : {&a, &b}) {
    for (size_t d = 0; d < from->size(); ++d) {
      int64_t& size = shape[shape.size() - from->size() + d];
      size = std::max(size, (*from)[d]);
    }
  }
  return shape;
}

namespace {

std::string EvaluateGraph(const onnx::GraphProto& graph, Ideals* values);

// An If runs one branch, which sees the values around it.
std::string EvaluateIf(const onnx::NodeProto& node, Ideals* values) {
  const bool condition = values->at(node.input(0)).numbers.at(0) != 0;
  const auto* attribute = Find(node, condition ? "then_branch" : "else_branch");
  Ideals inside = *values;
  std::string fault = EvaluateGraph(attribute->g(), &inside);
  for (int i = 0; fault.empty() && i < node.output_size(); ++i) {
    (*values)[node.output(i)] = inside.at(attribute->g().output(i).name());
  }
  return fault;
}

std::string EvaluateGraph(const onnx::GraphProto& graph, Ideals* values) {
  for (const auto& tensor : graph.initializer()) {
    (*values)[tensor.name()] = FromTensor(tensor);
  }
  for (const auto& node : graph.node()) {
    Call call = {node, {}};
    for (const std::string& name : node.input()) {
      if (!name.empty() && !values->count(name)) return "no value " + name;
      call.in.push_back(name.empty() ? nullptr : &values->at(name));
    }
    if (node.op_type() == "If") {
      std::string fault = EvaluateIf(node, values);
      if (!fault.empty()) return fault;
      continue;
    }
    Ideal y;
    if (node.op_type() == "Constant") {
      y = FromTensor(node.attribute(0).t());
    } else if (!EvaluateArithmetic(call, &y) && !EvaluateWindow(call, &y) &&
               !EvaluateMovement(call, &y) && !EvaluateQLinear(call, &y)) {
      return "cannot evaluate " + node.op_type();
    }
    (*values)[node.output(0)] = std::move(y);
  }
  return "";
}

}  // namespace

std::string EvaluateIdeal(const onnx::ModelProto& model, Ideals* values) {
  return EvaluateGraph(model.graph(), values);
}

}  // namespace fold::regress
