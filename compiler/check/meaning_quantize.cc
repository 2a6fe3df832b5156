#include <algorithm>
#include <utility>

#include "compiler/check/meaning.h"

namespace fold::check {
namespace {

// Parameters of Q or DQ, one for each key.
struct Grid {
  std::vector<Number> scales;
  std::vector<Number> zeros;
  std::vector<int32_t> keys;  // of elements; empty if there is one key
};

bool ReadGrid(const Value& x, const Value& scale, const Value* zero,
              int64_t axis, Grid* grid, std::string* why) {
  if (!scale.constant() || (zero != nullptr && !zero->constant())) {
    *why = "quantization parameters that are not constants";
    return false;
  }
  const int64_t count =
      std::max(scale.size(), zero != nullptr ? zero->size() : 1);
  for (int64_t i = 0; i < count; ++i) {
    grid->scales.push_back(ConstantAt(scale, scale.size() == 1 ? 0 : i));
    grid->zeros.push_back(zero == nullptr
                              ? Number(0)
                              : ConstantAt(*zero, zero->size() == 1 ? 0 : i));
  }
  if (count == 1) return true;
  const int64_t rank = static_cast<int64_t>(x.shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank || x.shape[axis] != count ||
      scale.shape.size() > 1) {
    *why = "per-axis parameters that do not fit";
    return false;
  }
  const int64_t inner = Strides(x.shape)[axis];
  grid->keys.resize(x.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    grid->keys[i] = static_cast<int32_t>(i / inner % count);
  }
  return true;
}

Value QuantizeConstant(const Value& x, const Grid& grid,
                       std::pair<int64_t, int64_t> range, int type) {
  std::vector<int64_t> codes;
  codes.reserve(x.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    const size_t key = grid.keys.empty() ? 0 : grid.keys[i];
    const Number quotient = ConstantAt(x, i) / grid.scales[key];
    if (!quotient.decidable()) {
      return UnknownValue("a constant that is quantized is not finite");
    }
    const mpz_class code =
        quotient.RoundHalfEven() + grid.zeros[key].rational_part().get_num();
    codes.push_back(code < Integer(range.first)    ? range.first
                    : code > Integer(range.second) ? range.second
                                                   : code.get_si());
  }
  return CodesValue(x.shape, type, codes);
}

}  // namespace

Value Quantize(const Scope& scope, const Value& x, const Value& scale,
               const Value* zero, int64_t axis, int type) {
  if (!x.known()) return x;
  if (zero != nullptr) type = zero->type;
  if (type == 0) type = onnx::TensorProto::UINT8;
  const auto range = CodeRange(type);
  if (!range) return UnknownValue("codes of an element type not known here");
  Grid grid;
  std::string why;
  if (!ReadGrid(x, scale, zero, axis, &grid, &why)) return UnknownValue(why);
  for (const Number& zero_point : grid.zeros) {
    if (!zero_point.FitsInt64()) return UnknownValue("a bad zero point");
  }
  if (x.constant()) return QuantizeConstant(x, grid, *range, type);
  std::vector<Number> inverse;
  for (const Number& s : grid.scales) {
    if (!s.decidable() || s.Sign() <= 0) {
      return UnknownValue("a scale that is not positive");
    }
    inverse.push_back(Number(1) / s);
  }
  Value y = x;
  AppendAffine(&y, grid.keys, inverse,
               std::vector<Number>(inverse.size(), Number(0)));
  y.chain.push_back(Round());
  AppendAffine(&y, grid.keys, std::vector<Number>(grid.zeros.size(), Number(1)),
               grid.zeros);
  y.chain.push_back(Clamp(Whole(range->first, range->second)));
  return Settle(scope, std::move(y), type);
}

Value Dequantize(const Value& x, const Value& scale, const Value* zero,
                 int64_t axis) {
  if (!x.known()) return x;
  if (!x.tracked()) return UnknownValue("a dequantization of no codes");
  Grid grid;
  std::string why;
  if (!ReadGrid(x, scale, zero, axis, &grid, &why)) return UnknownValue(why);
  std::vector<Number> offsets;
  for (size_t i = 0; i < grid.scales.size(); ++i) {
    offsets.push_back(-(grid.scales[i] * grid.zeros[i]));
  }
  Value y = x;
  y.type = scale.type;
  AppendAffine(&y, grid.keys, grid.scales, offsets);
  return y;
}

Value Settle(const Scope& scope, Value value, int type) {
  const bool integers = scope.roots->Integers(value);
  Interval range;
  bool same = integers;
  for (size_t cls = 0; cls < value.ClassCount(); ++cls) {
    const Chain chain = Reduce(value.chain, cls, value.ranges[cls], integers);
    if (const auto why = Undecidable(chain)) return UnknownValue(*why);
    same = same && chain.empty();
    const Interval image = Image(chain, value.ranges[cls]);
    range = cls == 0 ? image : Union(range, image);
  }
  value.type = type;
  if (same) {
    value.chain.clear();
    return value;
  }
  Root root;
  root.kind = Root::Kind::kChain;
  root.name = scope.output;
  root.shape = value.shape;
  const Shape shape = value.shape;
  root.base = std::move(value);
  return RootValue(scope.roots->Add(std::move(root)), shape, type, nullptr,
                   {range});
}

Value Opaque(const Scope& scope, Shape shape, int type) {
  Root root;
  root.kind = Root::Kind::kReal;
  root.name = scope.output;
  root.shape = shape;
  return RootValue(scope.roots->Add(std::move(root)), std::move(shape), type,
                   nullptr, {Interval{}});
}

}  // namespace fold::check
