// QuantizeLinear, DequantizeLinear, requantize and the QLinear operators.
#include <algorithm>

#include "compiler/ops/exact_rounding.h"
#include "compiler/ops/specs.h"

namespace fold {
namespace {

std::optional<Shape> SameShape(const OperandView& view, std::string*) {
  return view.types[0].shape;
}

// Index of the parameter for element i of a tensor of `shape`.
int64_t ParameterIndex(int64_t i, const Shape& shape, int64_t axis,
                       int64_t count) {
  if (count == 1) return 0;
  int64_t inner = 1;
  for (size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
  return i / inner % shape[axis];
}

// The type of the codes: the zero point's, else the one that output_dtype
// numbers as TensorProto does, else u8. Undefined for float codes.
ElementType CodesType(const Node& node, const TensorPtr& zero) {
  if (zero) return zero->type;
  switch (node.attribute<int64_t>("output_dtype", 0)) {
    case 0:
    case 2:
      return ElementType::u8;
    case 3:
      return ElementType::i8;
    case 4:
      return ElementType::u16;
    case 5:
      return ElementType::i16;
    case 21:
      return ElementType::u4;
    case 22:
      return ElementType::i4;
    default:
      return ElementType::undefined;
  }
}

// QuantizeLinear of constants: the integer weights behind a fake-quantization.
// Blocked parameters are not evaluated.
TensorPtr EvaluateQuantize(const OperandView& view) {
  const Tensor& x = *view.constants[0];
  const Tensor& scale = *view.constants[1];
  const TensorPtr zero =
      view.constants.size() > 2 ? view.constants[2] : nullptr;
  if (!IsFloat(x.type) || view.node.attribute<int64_t>("block_size", 0) != 0) {
    return nullptr;
  }
  int64_t axis = view.node.attribute<int64_t>("axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(x.shape.size());
  const int64_t count = scale.size();
  if (count != 1 && (axis < 0 || axis >= static_cast<int64_t>(x.shape.size()) ||
                     x.shape[axis] != count)) {
    return nullptr;
  }
  const ElementType type = CodesType(view.node, zero);
  if (!IsInteger(type)) return nullptr;
  const auto rounding =
      ParseRounding(view.node.attribute<std::string>("rounding", "half_even"));
  if (!rounding) return nullptr;
  std::vector<int64_t> codes(x.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t p = ParameterIndex(i, x.shape, axis, count);
    const int64_t z = zero ? zero->integer(zero->size() == 1 ? 0 : p) : 0;
    codes[i] = std::clamp(
        DivideAndRound(x.real(i), scale.real(p), RoundingFor(*rounding, z)) + z,
        view.node.attribute("code_low", LowestCode(type)),
        view.node.attribute("code_high", HighestCode(type)));
  }
  return MakeIntegerTensor(type, x.shape, codes);
}

}  // namespace

TensorPtr DequantizedNumbers(const Graph& graph, const Node& dequantize) {
  const auto constant = [&](size_t at) {
    return at < dequantize.operands.size()
               ? ConstantOf(graph, dequantize.operands[at])
               : nullptr;
  };
  const TensorPtr codes = constant(0), scale = constant(1), zero = constant(2);
  if (!codes || !scale || ElementSize(codes->type) > 2 ||
      dequantize.attribute<int64_t>("block_size", 0) != 0) {
    return nullptr;
  }
  const auto rank = static_cast<int64_t>(codes->shape.size());
  int64_t axis = dequantize.attribute<int64_t>("axis", 1);
  if (axis < 0) axis += rank;
  const int64_t count = scale->size();
  if (count != 1 && (axis < 0 || axis >= rank || codes->shape[axis] != count)) {
    return nullptr;
  }
  std::vector<double> reals(codes->size());
  for (int64_t i = 0; i < codes->size(); ++i) {
    const int64_t p = ParameterIndex(i, codes->shape, axis, count);
    const int64_t z = zero ? zero->integer(zero->size() == 1 ? 0 : p) : 0;
    reals[i] = static_cast<double>(codes->integer(i) - z) * scale->real(p);
  }
  return MakeRealTensor(ElementType::f64, codes->shape, reals);
}

// code_low, code_high and rounding are ours: what a quantization that is not
// ONNX's says beside its scale and zero point (EncodingOf).
const OpSpec kQuantizeSpec = {
    "axis,block_size,code_high,code_low,output_dtype,precision,rounding,"
    "saturate",
    EncodingRule::kFixing, SameShape, EvaluateQuantize, false};
// Real numbers to real numbers on a grid; evaluated once expand_fake_quant has
// made them two.
const OpSpec kQuantSpec = {"narrow,rounding_mode,signed", EncodingRule::kFixing,
                           SameShape, nullptr, true};
// Never evaluated: the integers and their scale would be lost.
const OpSpec kDequantizeSpec = {"axis,block_size,output_dtype",
                                EncodingRule::kNone, SameShape, nullptr, false};
const OpSpec kRequantizeSpec = {"", EncodingRule::kFixing, SameShape, nullptr,
                                true};
const OpSpec kQLinearSpec = {
    "alpha,auto_pad,axis,beta,ceil_mode,channels_last,count_include_pad,"
    "dilations,group,kernel_shape,opset,pads,strides,transA,transB",
    EncodingRule::kFixing, nullptr, nullptr, false};

}  // namespace fold
