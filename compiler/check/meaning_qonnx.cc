// QONNX's Quant, IntQuant, BipolarQuant and Trunc: x / scale + zero point is
// rounded and limited, and stands for a real number again. The codes in
// between have no name in the file; artifacts call them by their value's name
// with "_codes" behind it.
#include <utility>

#include "compiler/check/meaning.h"

namespace fold::check {
namespace {

using Inputs = std::vector<const Value*>;
using onnx::TensorProto;

// Scale and zero point of each key, and the key of each element (empty: 0).
struct Grid {
  std::vector<Number> scales, zeros;
  std::vector<int32_t> keys;
};

std::optional<std::string> ReadGrid(const Value& x, const Value& scale,
                                    const Value* zero, Grid* grid) {
  if (!scale.constant() || (zero != nullptr && !zero->constant())) {
    return "quantization parameters that are not constants";
  }
  const Value& wide = scale.size() > 1 || zero == nullptr ? scale : *zero;
  if (zero != nullptr && zero->size() > 1 && zero->shape != wide.shape) {
    return "scales and zero points of different shapes";
  }
  for (int64_t i = 0; i < wide.size(); ++i) {
    grid->scales.push_back(ConstantAt(scale, scale.size() == 1 ? 0 : i));
    grid->zeros.push_back(zero == nullptr
                              ? Number(0)
                              : ConstantAt(*zero, zero->size() == 1 ? 0 : i));
    const Number& s = grid->scales.back();
    if (!s.decidable() || s.Sign() <= 0) return "a scale that is not positive";
    if (!grid->zeros.back().FitsInt64()) return "a bad zero point";
  }
  if (wide.size() == 1) return std::nullopt;
  if (wide.shape.size() > x.shape.size()) return "parameters that do not fit";
  const auto index = BroadcastIndex(wide.shape, x.shape);
  if (static_cast<int64_t>(index.size()) != x.size()) {
    return "parameters that do not fit";
  }
  grid->keys.assign(index.begin(), index.end());
  return std::nullopt;
}

// What a node does between a real number and a code.
struct Coding {
  Chain roundings;  // steps after x / scale + zero
  int64_t low = 0, high = 0;
  Rounding last = Rounding::kHalfEven;
};

int StorageOf(int64_t low, int64_t high) {
  const auto fits = [&](int64_t l, int64_t h) { return low >= l && high <= h; };
  if (low >= 0 && fits(0, 255)) return TensorProto::UINT8;
  if (fits(-128, 127)) return TensorProto::INT8;
  if (low >= 0 && fits(0, 65535)) return TensorProto::UINT16;
  if (fits(-32768, 32767)) return TensorProto::INT16;
  return fits(INT32_MIN, INT32_MAX) ? TensorProto::INT32 : TensorProto::UINT32;
}

std::optional<std::string> ReadBits(const Scope& scope, const Value* bits,
                                    Coding* coding) {
  if (bits == nullptr || !bits->constant()) return "a bit width at run time";
  const Number width = ConstantAt(*bits, 0);
  if (!width.FitsInt64() || width.ToInt64() < 1 || width.ToInt64() > 32) {
    return "a bit width that is not a whole number from 1 to 32";
  }
  const int64_t half = int64_t{1} << (width.ToInt64() - 1);
  const int64_t narrow = scope.attributes.Int("narrow", 0) != 0 ? 1 : 0;
  if (scope.attributes.Int("signed", 1) != 0) {
    coding->low = -half + narrow;
    coding->high = half - 1;
  } else {
    coding->high = 2 * half - 1 - narrow;
  }
  return std::nullopt;
}

std::optional<std::string> ReadMode(const Scope& scope, const char* otherwise,
                                    Coding* coding) {
  std::string mode = scope.attributes.Text("rounding_mode");
  if (mode.empty()) mode = otherwise;
  const auto rounding = RoundingMode(mode);
  if (!rounding) return "a rounding mode not known here";
  coding->last = *rounding;
  return std::nullopt;
}

Value ConstantCodes(const Value& x, const Grid& grid, const Coding& coding,
                    int type) {
  std::vector<int64_t> codes;
  codes.reserve(x.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    const size_t key = grid.keys.empty() ? 0 : grid.keys[i];
    const Number y = ConstantAt(x, i) / grid.scales[key] + grid.zeros[key];
    if (!y.decidable()) return UnknownValue("a constant that is not finite");
    const mpz_class code = RoundTo(coding.last, y);
    codes.push_back(code < Integer(coding.low)    ? coding.low
                    : code > Integer(coding.high) ? coding.high
                                                  : code.get_si());
  }
  return CodesValue(x.shape, type, codes);
}

// The codes of x, and as real numbers on the grid `out`.
Value Quantized(const Scope& scope, const Value& x, const Grid& in,
                const Grid& out, const Coding& coding) {
  const int type = StorageOf(coding.low, coding.high);
  Value codes;
  if (x.constant() && coding.roundings.empty()) {
    codes = ConstantCodes(x, in, coding, type);
  } else if (x.constant()) {
    return UnknownValue("a Trunc of a constant");
  } else {
    std::vector<Number> inverse;
    for (const Number& s : in.scales) inverse.push_back(Number(1) / s);
    Value y = x;
    AppendAffine(&y, in.keys, inverse, in.zeros);
    for (const Step& step : coding.roundings) y.chain.push_back(step);
    y.chain.push_back(Round(coding.last));
    y.chain.push_back(Affine(Number(1), Number(0)));
    y.chain.push_back(Clamp(Whole(coding.low, coding.high)));
    Scope named = scope;
    named.output += "_codes";
    codes = Settle(named, std::move(y), type);
  }
  if (!codes.known()) return codes;
  scope.named->emplace_back(scope.output + "_codes", codes);
  std::vector<Number> offsets;
  for (size_t i = 0; i < out.scales.size(); ++i) {
    offsets.push_back(-(out.scales[i] * out.zeros[i]));
  }
  AppendAffine(&codes, out.keys, out.scales, offsets);
  codes.type = x.type;
  return codes;
}

Value Trunc(const Scope& scope, const Inputs& in) {
  Grid from, to;
  Coding coding;
  if (in.size() != 6 || in[1] == nullptr || in[2] == nullptr ||
      in[4] == nullptr) {
    return UnknownValue("a Trunc of QONNX's version 1");
  }
  auto why = ReadGrid(*in[0], *in[1], in[2], &from);
  if (!why) why = ReadGrid(*in[0], *in[4], nullptr, &to);
  if (!why) why = ReadBits(scope, in[5], &coding);
  if (!why) why = ReadMode(scope, "FLOOR", &coding);
  if (why) return UnknownValue(*why);
  if (!from.keys.empty() || !to.keys.empty()) {
    return UnknownValue("a Trunc with more than one scale");
  }
  const Number ratio = to.scales[0] / from.scales[0];
  to.zeros[0] = from.zeros[0] / ratio;
  coding.roundings = {Round(), Affine(Number(1) / ratio, Number(0))};
  return Quantized(scope, *in[0], from, to, coding);
}

}  // namespace

bool IsQonnx(const std::string& op) {
  return op == "Quant" || op == "IntQuant" || op == "BipolarQuant" ||
         op == "Trunc";
}

Value Qonnx(const Scope& scope, const Inputs& in) {
  const std::string& op = scope.node->op_type();
  if (in.size() < 2 || in[0] == nullptr || in[1] == nullptr) {
    return UnknownValue("a missing input");
  }
  if (!in[0]->known()) return *in[0];
  if (op == "Trunc") return Trunc(scope, in);
  Grid grid;
  Coding coding;
  std::optional<std::string> why;
  if (op == "BipolarQuant") {
    why = ReadGrid(*in[0], *in[1], nullptr, &grid);
    coding.low = -1;
    coding.high = 1;
    coding.last = Rounding::kSign;
  } else {
    if (in.size() < 4 || in[2] == nullptr) return UnknownValue("a bad Quant");
    why = ReadGrid(*in[0], *in[1], in[2], &grid);
    if (!why) why = ReadBits(scope, in[3], &coding);
    if (!why) why = ReadMode(scope, "ROUND", &coding);
  }
  if (why) return UnknownValue(*why);
  return Quantized(scope, *in[0], grid, grid, coding);
}

}  // namespace fold::check
