#include <functional>
#include <map>
#include <utility>

#include "compiler/check/meaning.h"

namespace fold::check {
namespace {

Value CombineConstants(Binary kind, const Value& a, const Value& b) {
  Shape shape;
  if (!BroadcastShape(a.shape, b.shape, &shape)) {
    return UnknownValue("shapes that do not broadcast");
  }
  const std::vector<int64_t> at_a = BroadcastIndex(a.shape, shape);
  const std::vector<int64_t> at_b = BroadcastIndex(b.shape, shape);
  std::vector<Number> result;
  result.reserve(at_a.size());
  for (size_t i = 0; i < at_a.size(); ++i) {
    const Number x = ConstantAt(a, at_a[i]);
    const Number y = ConstantAt(b, at_b[i]);
    switch (kind) {
      case Binary::kAdd:
        result.push_back(x + y);
        break;
      case Binary::kSub:
        result.push_back(x - y);
        break;
      case Binary::kMul:
        result.push_back(x * y);
        break;
      case Binary::kDiv:
        result.push_back(x / y);
        break;
    }
  }
  if (a.kind == Value::Kind::kInts && kind != Binary::kDiv) {
    std::vector<int64_t> ints;
    ints.reserve(result.size());
    for (const Number& x : result) ints.push_back(x.ToInt64());
    return IntsValue(std::move(shape), a.type, std::move(ints));
  }
  return ExactValue(std::move(shape), a.type, std::move(result));
}

// The distinct elements of a constant that is broadcast to `shape`.
struct Keys {
  std::vector<int32_t> of_element;
  std::vector<Number> numbers;
};

Keys KeysOf(const Value& constant, const Shape& shape) {
  Keys keys;
  if (constant.size() == 1) {
    keys.numbers = {ConstantAt(constant, 0)};
    return keys;
  }
  std::vector<int32_t> key_at(constant.size());
  std::map<double, int32_t> known;
  for (int64_t i = 0; i < constant.size(); ++i) {
    const auto fresh = static_cast<int32_t>(keys.numbers.size());
    if (constant.kind == Value::Kind::kReals) {
      const auto [at, added] = known.emplace((*constant.reals)[i], fresh);
      key_at[i] = at->second;
      if (!added) continue;
    } else {
      key_at[i] = fresh;
    }
    keys.numbers.push_back(ConstantAt(constant, i));
  }
  for (const int64_t i : BroadcastIndex(constant.shape, shape)) {
    keys.of_element.push_back(key_at[i]);
  }
  return keys;
}

Value WithConstant(const Scope& scope, Binary kind, const Value& x,
                   const Value& constant, bool constant_first) {
  Shape shape;
  if (!BroadcastShape(x.shape, constant.shape, &shape)) {
    return UnknownValue("shapes that do not broadcast");
  }
  // A quotient of what is no integer is not followed.
  if (kind == Binary::kDiv && constant_first && !scope.roots->Integers(x)) {
    return Opaque(scope, shape, x.type);
  }
  Value y =
      shape == x.shape ? x : Gather(x, shape, BroadcastIndex(x.shape, shape));
  Keys keys = KeysOf(constant, shape);
  if (kind == Binary::kDiv && constant_first) {
    AppendOver(&y, keys.of_element, keys.numbers);
    return y;
  }
  std::vector<Number> scale;
  std::vector<Number> offset;
  for (const Number& c : keys.numbers) {
    const bool sum = kind == Binary::kAdd || kind == Binary::kSub;
    if (kind == Binary::kDiv) {
      scale.push_back(Number(1) / c);
    } else if (kind == Binary::kMul) {
      scale.push_back(c);
    } else {
      scale.push_back(kind == Binary::kSub && constant_first ? Number(-1)
                                                             : Number(1));
    }
    const bool minus = kind == Binary::kSub && !constant_first;
    offset.push_back(!sum ? Number(0) : minus ? -c : c);
  }
  AppendAffine(&y, keys.of_element, scale, offset);
  return y;
}

Interval RealRange(const Value& x, bool integers) {
  Interval range;
  for (size_t cls = 0; cls < x.ClassCount(); ++cls) {
    const Chain chain = Reduce(x.chain, cls, x.ranges[cls], integers);
    if (Undecidable(chain)) return Interval{};
    const Interval image = Image(chain, x.ranges[cls]);
    range = cls == 0 ? image : Union(range, image);
  }
  return range;
}

Interval PairRange(PairDefinition::Kind kind, const Interval& a,
                   const Interval& b) {
  Interval range;
  if (kind == PairDefinition::Kind::kMul) {
    if (!a.low || !a.high || !b.low || !b.high) return range;
    const Number corners[4] = {*a.low * *b.low, *a.low * *b.high,
                               *a.high * *b.low, *a.high * *b.high};
    range = {corners[0], corners[0]};
    for (const Number& x : corners) range = Union(range, {x, x});
    return range;
  }
  const bool sum = kind == PairDefinition::Kind::kAdd;
  const auto& low = sum ? b.low : b.high;
  const auto& high = sum ? b.high : b.low;
  if (a.low && low) range.low = sum ? *a.low + *low : *a.low - *low;
  if (a.high && high) range.high = sum ? *a.high + *high : *a.high - *high;
  if ((range.low && !range.low->decidable()) ||
      (range.high && !range.high->decidable())) {
    return Interval{};
  }
  return range;
}

}  // namespace

Value Combine(const Scope& scope, Binary kind, const Value& a, const Value& b) {
  if (!a.known()) return a;
  if (!b.known()) return b;
  if (a.constant() && b.constant()) return CombineConstants(kind, a, b);
  if (b.constant()) return WithConstant(scope, kind, a, b, false);
  if (a.constant()) return WithConstant(scope, kind, b, a, true);
  Shape shape;
  if (!BroadcastShape(a.shape, b.shape, &shape)) {
    return UnknownValue("shapes that do not broadcast");
  }
  if (kind == Binary::kDiv) return Opaque(scope, shape, a.type);
  PairDefinition pair;
  pair.kind = kind == Binary::kAdd   ? PairDefinition::Kind::kAdd
              : kind == Binary::kSub ? PairDefinition::Kind::kSub
                                     : PairDefinition::Kind::kMul;
  pair.a = Gather(a, shape, BroadcastIndex(a.shape, shape));
  pair.b = Gather(b, shape, BroadcastIndex(b.shape, shape));
  const Interval range =
      PairRange(pair.kind, RealRange(a, scope.roots->Integers(a)),
                RealRange(b, scope.roots->Integers(b)));
  Root root;
  root.kind = Root::Kind::kPair;
  root.name = scope.output;
  root.shape = shape;
  root.pair = std::make_shared<PairDefinition>(std::move(pair));
  return RootValue(scope.roots->Add(std::move(root)), std::move(shape), a.type,
                   nullptr, {range});
}

Value ClampTo(const Scope& scope, const Value& x, const Interval& interval) {
  if (!x.known()) return x;
  if (x.constant()) {
    std::vector<Number> result;
    result.reserve(x.size());
    for (int64_t i = 0; i < x.size(); ++i) {
      result.push_back(Evaluate({Clamp(interval)}, ConstantAt(x, i)));
    }
    if (!x.constant_codes() || !x.chain.empty()) {
      return ExactValue(x.shape, x.type, std::move(result));
    }
    std::vector<int64_t> codes;
    codes.reserve(result.size());
    for (const Number& code : result) codes.push_back(code.ToInt64());
    return CodesValue(x.shape, x.type, codes);
  }
  Value y = x;
  y.chain.push_back(Clamp(interval));
  if (!scope.roots->Integers(x)) return y;
  if (x.chain.empty()) return Settle(scope, std::move(y), x.type);
  // A clamp of dequantized codes at grid points is a clamp of the codes.
  Number scale;
  int64_t zero = 0;
  if (!UniformGrid(x, &scale, &zero) || scale.Sign() < 0) return y;
  Interval codes;
  for (const auto& [from, to] : {std::make_pair(&interval.low, &codes.low),
                                 std::make_pair(&interval.high, &codes.high)}) {
    if (!*from) continue;
    *to = **from / scale + Number(zero);
    const Interval range = RealRange(x, true);
    const bool low = to == &codes.low;
    const auto& end = low ? range.low : range.high;
    const bool idle = end && (low ? **from <= *end : *end <= **from);
    if (idle) {
      to->reset();
    } else if (!(*to)->integer()) {
      return y;
    }
  }
  if (!codes.low && !codes.high) return x;
  Value clamped = x;
  clamped.chain = {Clamp(codes)};
  clamped = Settle(scope, std::move(clamped), x.type);
  clamped.chain.push_back(Affine(scale, -(scale * Number(zero))));
  return clamped;
}

Value BatchNormalize(const Value& x, const std::vector<const Value*>& in,
                     double epsilon) {
  if (!x.tracked() || x.shape.size() < 2) {
    return UnknownValue("a BatchNormalization of a constant or an unknown");
  }
  const int64_t channels = x.shape[1];
  for (size_t i = 1; i < 5; ++i) {
    if (i >= in.size() || in[i] == nullptr || !in[i]->constant() ||
        in[i]->size() != channels) {
      return UnknownValue("BatchNormalization parameters not constant");
    }
  }
  std::vector<Number> scale;
  std::vector<Number> offset;
  for (int64_t c = 0; c < channels; ++c) {
    const Number variance = ConstantAt(*in[4], c) + Number::FromDouble(epsilon);
    const Number a = ConstantAt(*in[1], c) / Number::SquareRoot(variance);
    scale.push_back(a);
    offset.push_back(ConstantAt(*in[2], c) - ConstantAt(*in[3], c) * a);
  }
  const int64_t inner = Strides(x.shape)[1];
  std::vector<int32_t> keys(x.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    keys[i] = static_cast<int32_t>(i / inner % channels);
  }
  Value y = x;
  AppendAffine(&y, keys, scale, offset);
  return y;
}

}  // namespace fold::check
