#include "compiler/import/constant_condition.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compiler/base/diagnostic.h"
#include "compiler/import/element_types.h"
#include "compiler/import/onnx_importer.h"
#include "compiler/import/tensor_reader.h"

namespace fold::importer {
namespace {

using Numbers = std::vector<int64_t>;

const onnx::AttributeProto* Find(const onnx::NodeProto& node,
                                 const std::string& name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

int64_t Integer(const onnx::NodeProto& node, const std::string& name,
                int64_t otherwise) {
  const auto* attribute = Find(node, name);
  return attribute ? attribute->i() : otherwise;
}

Numbers NumbersOf(const Tensor& tensor) {
  Numbers numbers;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    numbers.push_back(tensor.integer(i));
  }
  return numbers;
}

TensorPtr Vector(ElementType type, const Numbers& numbers) {
  return MakeIntegerTensor(type, {static_cast<int64_t>(numbers.size())},
                           numbers);
}

TensorPtr ConstantOf(const onnx::NodeProto& node) {
  if (const auto* value = Find(node, "value")) return SmallTensor(value->t());
  if (const auto* value = Find(node, "value_int")) {
    return MakeIntegerTensor(ElementType::i64, {}, {value->i()});
  }
  const auto* value = Find(node, "value_ints");
  if (value == nullptr || value->ints_size() > kLargestCondition) {
    return nullptr;
  }
  return Vector(ElementType::i64, {value->ints().begin(), value->ints().end()});
}

// The result of one pair; nullopt if it has none.
std::optional<int64_t> Combine(const std::string& op, int64_t a, int64_t b) {
  int64_t sum = 0;
  if (op == "Equal") return a == b;
  if (op == "Greater") return a > b;
  if (op == "GreaterOrEqual") return a >= b;
  if (op == "Less") return a < b;
  if (op == "LessOrEqual") return a <= b;
  if (op == "And") return a != 0 && b != 0;
  if (op == "Or") return a != 0 || b != 0;
  if (op == "Xor") return (a != 0) != (b != 0);
  if (op == "Add" && !__builtin_add_overflow(a, b, &sum)) return sum;
  if (op == "Sub" && !__builtin_sub_overflow(a, b, &sum)) return sum;
  if (op == "Mul" && !__builtin_mul_overflow(a, b, &sum)) return sum;
  return std::nullopt;
}

TensorPtr Pairwise(const std::string& op, const Tensor& a, const Tensor& b) {
  if (a.shape.size() > 1 || b.shape.size() > 1) return nullptr;
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return nullptr;
  const bool arithmetic = op == "Add" || op == "Sub" || op == "Mul";
  // Narrower types wrap, which is not modelled.
  if (arithmetic && a.type != ElementType::i64) return nullptr;
  if (a.type != b.type) return nullptr;
  const Tensor& larger = a.size() == 1 ? b : a;
  Numbers numbers;
  for (int64_t i = 0; i < larger.size(); ++i) {
    const auto value = Combine(op, a.integer(a.size() == 1 ? 0 : i),
                               b.integer(b.size() == 1 ? 0 : i));
    if (!value) return nullptr;
    numbers.push_back(*value);
  }
  const bool is_vector = a.shape.size() + b.shape.size() > 0;
  return MakeIntegerTensor(arithmetic ? ElementType::i64 : ElementType::boolean,
                           is_vector ? Shape{larger.size()} : Shape{}, numbers);
}

TensorPtr CastOf(const onnx::NodeProto& node, const Tensor& x) {
  const ElementType to = FromOnnxType(static_cast<int>(Integer(node, "to", 0)));
  Numbers numbers = NumbersOf(x);
  if (to == ElementType::boolean) {
    for (int64_t& number : numbers) number = number != 0;
  } else if (to != ElementType::i64) {
    return nullptr;
  }
  return MakeIntegerTensor(to, x.shape, numbers);
}

TensorPtr GatherOf(const Tensor& x, const Tensor& indices) {
  if (x.shape.size() != 1) return nullptr;
  Numbers numbers;
  for (int64_t index : NumbersOf(indices)) {
    if (index < 0) index += x.size();
    if (index < 0 || index >= x.size()) return nullptr;
    numbers.push_back(x.integer(index));
  }
  return MakeIntegerTensor(x.type, indices.shape, numbers);
}

TensorPtr ConcatOf(const std::vector<TensorPtr>& parts) {
  Numbers numbers;
  for (const TensorPtr& part : parts) {
    if (part->shape.size() != 1 || part->type != parts[0]->type) return nullptr;
    const Numbers more = NumbersOf(*part);
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  return Vector(parts[0]->type, numbers);
}

// Between a scalar and a vector of one; anything else keeps its shape or is
// not evaluated.
TensorPtr Reshaped(const std::string& op, const std::vector<TensorPtr>& in) {
  const Tensor& x = *in[0];
  Shape shape = x.shape;
  if (op == "Squeeze") {
    if (x.size() != 1) return nullptr;
    shape.clear();
  } else if (op == "Unsqueeze") {
    if (!x.shape.empty()) return nullptr;
    shape = {1};
  } else {
    if (in.size() != 2) return nullptr;
    shape = NumbersOf(*in[1]);
    if (shape.size() > 1) return nullptr;
    if (shape.size() == 1) shape[0] = x.size();
    if (shape.empty() && x.size() != 1) return nullptr;
  }
  return MakeIntegerTensor(x.type, shape, NumbersOf(x));
}

TensorPtr ShapeOf(const onnx::NodeProto& node, const Tensor& shape) {
  const int64_t rank = shape.size();
  const auto bound = [&](const char* name, int64_t otherwise) {
    int64_t at = Integer(node, name, otherwise);
    if (at < 0) at += rank;
    return std::clamp<int64_t>(at, 0, rank);
  };
  const int64_t start = bound("start", 0), end = bound("end", rank);
  Numbers numbers;
  for (int64_t i = start; i < end; ++i) numbers.push_back(shape.integer(i));
  return Vector(ElementType::i64, numbers);
}

TensorPtr SizeOf(const Tensor& shape) {
  int64_t size = 1;
  for (int64_t dimension : NumbersOf(shape)) {
    if (__builtin_mul_overflow(size, dimension, &size)) return nullptr;
  }
  return MakeIntegerTensor(ElementType::i64, {}, {size});
}

TensorPtr Unary(const onnx::NodeProto& node, const Tensor& x) {
  const std::string& op = node.op_type();
  if (op == "Cast") return CastOf(node, x);
  if (op == "Shape") return ShapeOf(node, x);
  if (op == "Size") return SizeOf(x);
  if (op != "Not" || x.type != ElementType::boolean) return nullptr;
  Numbers numbers = NumbersOf(x);
  for (int64_t& number : numbers) number = number == 0;
  return MakeIntegerTensor(ElementType::boolean, x.shape, numbers);
}

}  // namespace

TensorPtr SmallTensor(const onnx::TensorProto& tensor) {
  Diagnostics unseen;
  const ElementType type = FromOnnxType(tensor.data_type());
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL ||
      (!IsInteger(type) && type != ElementType::boolean) ||
      type == ElementType::u64 ||
      !CheckTensor(tensor, "condition", ImportLimits(), &unseen) ||
      UnpackedByteCount(tensor) > kLargestCondition * ElementSize(type)) {
    return nullptr;
  }
  return ReadTensor(tensor, "condition", &unseen);
}

TensorPtr EvaluateSmall(const onnx::NodeProto& node,
                        const std::vector<TensorPtr>& operands) {
  if (!node.domain().empty() || node.output_size() != 1) return nullptr;
  const std::string& op = node.op_type();
  int64_t elements = 0;
  for (const TensorPtr& operand : operands) {
    if (operand == nullptr) return nullptr;
    elements += operand->size();
  }
  if (elements > kLargestCondition) return nullptr;
  if (op == "Constant") return ConstantOf(node);
  if (operands.empty()) return nullptr;
  if (op == "Identity") return operands[0];
  if (op == "Concat") return ConcatOf(operands);
  if (op == "Squeeze" || op == "Unsqueeze" || op == "Reshape") {
    return Reshaped(op, operands);
  }
  if (op == "Gather" && operands.size() == 2) {
    return GatherOf(*operands[0], *operands[1]);
  }
  if (operands.size() == 2) return Pairwise(op, *operands[0], *operands[1]);
  return operands.size() == 1 ? Unary(node, *operands[0]) : nullptr;
}

}  // namespace fold::importer
