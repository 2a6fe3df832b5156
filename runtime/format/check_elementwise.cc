// The boundary, element-by-element ops over integers, and movement.
#include <cmath>

#include "runtime/format/check.h"

namespace fold::format {
namespace {

bool CheckBroadcast(const OpCheck& c, int operands) {
  int64_t strides[kMaxDimensions];
  for (int i = 0; i < operands; ++i) {
    if (!BroadcastStrides(ShapeOf(c.Input(i)), ShapeOf(c.Output()), strides)) {
      return c.Fail("operand %d does not broadcast to the result", i);
    }
  }
  return true;
}

bool CheckSameShape(const OpCheck& c) {
  return ShapeOf(c.Input(0)) == ShapeOf(c.Output()) ||
         c.Fail("input and result differ in shape");
}

// Elements along `axis` (1 for -1).
bool ChannelsAlong(const OpCheck& c, const Shape& shape, int32_t axis,
                   int64_t* channels) {
  if (axis < -1 || axis >= shape.rank) return c.Fail("axis %d", axis);
  *channels = axis < 0 ? 1 : shape.dims[axis];
  return true;
}

// Logical and physical side of a boundary op, and its constants' sizes.
template <typename Parameters>
bool CheckBoundary(const OpCheck& c, const Parameters& p, const Shape& logical,
                   const Shape& physical) {
  const Span<int32_t> permutation = View(p.permutation());
  if (permutation.size != 0 &&
      !CheckPermutation(c, permutation, logical.rank)) {
    return false;
  }
  if (!SameIgnoringOnes(Permuted(logical, permutation.data), physical)) {
    return c.Fail("physical shape is not the permuted logical one");
  }
  int64_t channels = 1;
  if (!ChannelsAlong(c, logical, p.axis(), &channels)) return false;
  const int64_t size = View(p.scales()).size;
  if ((size != 1 && size != channels) || View(p.zero_points()).size != size) {
    return c.Fail("scales or zero points for other channels");
  }
  if (!IsAligned(View(p.scales())) || !IsAligned(View(p.zero_points()))) {
    return c.Fail("scales or zero points are not aligned");
  }
  return c.check->Spend(3 * size);
}

bool AllFinite(Span<double> values, bool positive) {
  for (int64_t i = 0; i < values.size; ++i) {
    if (!std::isfinite(values.data[i])) return false;
    if (positive && !(values.data[i] > 0)) return false;
  }
  return true;
}

}  // namespace

bool CheckQuantize(const OpCheck& c) {
  const QuantizeParameters& p = *c.op->parameters_as_QuantizeParameters();
  const ElementType type = c.Output().type();
  if (!IsFloat(c.Input(0).type())) return c.Fail("input is not float");
  if (!CheckBounds(c, p.lo(), p.hi(), type) ||
      !CheckBoundary(c, p, ShapeOf(c.Input(0)), ShapeOf(c.Output()))) {
    return false;
  }
  if (!AllFinite(View(p.scales()), true)) return c.Fail("scale not above 0");
  const Span<int64_t> zeros = View(p.zero_points());
  for (int64_t i = 0; i < zeros.size; ++i) {
    if (!CheckBounds(c, zeros.data[i], zeros.data[i], type)) return false;
  }
  if (p.rounding() > Rounding::SIGN) return c.Fail("no such rounding");
  if (p.rounding() != Rounding::SIGN) return true;
  for (int64_t i = 0; i < zeros.size; ++i) {
    if (zeros.data[i] != 0) return c.Fail("a sign with a zero point");
  }
  return (p.lo() >= -1 && p.hi() <= 1) || c.Fail("a sign beyond -1 and 1");
}

bool CheckDequantize(const OpCheck& c) {
  const DequantizeParameters& p = *c.op->parameters_as_DequantizeParameters();
  if (!IsCode(c.Input(0).type())) return c.Fail("input is not integer");
  if (!IsFloat(c.Output().type())) return c.Fail("result is not float");
  if (!CheckBoundary(c, p, ShapeOf(c.Output()), ShapeOf(c.Input(0)))) {
    return false;
  }
  const Span<double> offsets = View(p.offsets());
  if (offsets.size != 0 && offsets.size != View(p.scales()).size) {
    return c.Fail("offsets for other channels");
  }
  if (!IsAligned(offsets)) return c.Fail("offsets are not aligned");
  if (!AllFinite(View(p.scales()), false) || !AllFinite(offsets, false)) {
    return c.Fail("scale or offset is not finite");
  }
  const Span<int64_t> zeros = View(p.zero_points());
  for (int64_t i = 0; i < zeros.size; ++i) {
    if (zeros.data[i] < INT32_MIN || zeros.data[i] > INT32_MAX) {
      return c.Fail("zero point %lld", static_cast<long long>(zeros.data[i]));
    }
  }
  return true;
}

bool CheckRequantize(const OpCheck& c) {
  const auto& p = *c.op->parameters_as_RequantizeParameters();
  if (!IsCode(c.Input(0).type())) return c.Fail("input is not integer");
  if (p.input_zero() < INT32_MIN || p.input_zero() > INT32_MAX) {
    return c.Fail("zero point %lld", static_cast<long long>(p.input_zero()));
  }
  int64_t channels = 1;
  return CheckSameShape(c) &&
         ChannelsAlong(c, ShapeOf(c.Input(0)), p.axis(), &channels) &&
         CheckRequant(c, p.requant(), channels, c.Output().type());
}

bool CheckAdd2(const OpCheck& c) {
  const Add2Parameters& p = *c.op->parameters_as_Add2Parameters();
  if (!IsCode(c.Input(0).type()) || !IsCode(c.Input(1).type())) {
    return c.Fail("operands are not integer");
  }
  if (p.form() > PairForm::REMAINDER) return c.Fail("unknown form");
  if (p.shift() > 62 || p.divisor() < 1 || p.divisor() > (int64_t{1} << 62)) {
    return c.Fail("shift %d, divisor %lld", p.shift(),
                  static_cast<long long>(p.divisor()));
  }
  return CheckBroadcast(c, 2) &&
         CheckBounds(c, p.lo(), p.hi(), c.Output().type());
}

bool CheckMul2(const OpCheck& c) {
  const Mul2Parameters& p = *c.op->parameters_as_Mul2Parameters();
  if (!IsCode(c.Input(0).type()) || !IsCode(c.Input(1).type())) {
    return c.Fail("operands are not integer");
  }
  return CheckBroadcast(c, 2) &&
         CheckRequant(c, p.requant(), 1, c.Output().type());
}

bool CheckTable1(const OpCheck& c) {
  const TableParameters& p = *c.op->parameters_as_TableParameters();
  const ElementType type = c.Input(0).type();
  if (!IsCode(type) || ElementBytes(type) > 2) {
    return c.Fail("input has neither 8 nor 16 bits");
  }
  const int64_t entries = int64_t{1} << (8 * ElementBytes(type));
  const int64_t size = ShapeOf(c.Input(1)).Elements();
  int64_t channels = 1;
  if (!ChannelsAlong(c, ShapeOf(c.Input(0)), p.axis(), &channels)) return false;
  return CheckSameShape(c) &&
         CheckConstant(c, c.Input(1), c.Output().type(),
                       size == entries ? entries : channels * entries, "table");
}

bool CheckTable2(const OpCheck& c) {
  if (!IsByteCode(c.Input(0).type()) || !IsByteCode(c.Input(1).type())) {
    return c.Fail("operands are not 8-bit");
  }
  return CheckBroadcast(c, 2) &&
         CheckConstant(c, c.Input(2), c.Output().type(), 65536, "table");
}

bool CheckClamp(const OpCheck& c) {
  const ClampParameters& p = *c.op->parameters_as_ClampParameters();
  if (c.Input(0).type() != c.Output().type()) return c.Fail("type changes");
  return CheckSameShape(c) && CheckBounds(c, p.lo(), p.hi(), c.Output().type());
}

bool CheckReciprocal(const OpCheck& c) {
  constexpr int64_t kMostNumerator = int64_t{1} << 62;
  constexpr int64_t kMostDenominator = int64_t{1} << 46;
  const auto& p = *c.op->parameters_as_ReciprocalParameters();
  const ElementType type = c.Input(0).type();
  if (!IsCode(type) || ElementBytes(type) > 2) {
    return c.Fail("input has neither 8 nor 16 bits");
  }
  const Span<int64_t> numerators = View(p.numerators());
  const Span<int64_t> denominators = View(p.denominators());
  int64_t channels = 1;
  if (!CheckSameShape(c) ||
      !CheckBounds(c, p.input_zero(), p.input_zero(), type) ||
      !CheckBounds(c, p.lo(), p.hi(), c.Output().type()) ||
      !ChannelsAlong(c, ShapeOf(c.Input(0)), p.axis(), &channels)) {
    return false;
  }
  if ((numerators.size != 1 && numerators.size != channels) ||
      denominators.size != numerators.size) {
    return c.Fail("numerators or denominators for other channels");
  }
  if (!IsAligned(numerators) || !IsAligned(denominators)) {
    return c.Fail("numerators or denominators are not aligned");
  }
  if (!c.check->Spend(2 * numerators.size)) return false;
  for (int64_t i = 0; i < numerators.size; ++i) {
    const int64_t n = numerators.data[i], d = denominators.data[i];
    if (n < -kMostNumerator || n > kMostNumerator || d < 1 ||
        d > kMostDenominator) {
      return c.Fail("fraction %lld / %lld", static_cast<long long>(n),
                    static_cast<long long>(d));
    }
  }
  return true;
}

bool CheckCopy(const OpCheck& c) {
  return (c.Input(0).type() == c.Output().type() &&
          c.Input(0).bytes() == c.Output().bytes()) ||
         c.Fail("type or size changes");
}

bool CheckConcat(const OpCheck& c) {
  const ConcatParameters& p = *c.op->parameters_as_ConcatParameters();
  const Shape y = ShapeOf(c.Output());
  if (p.axis() < 0 || p.axis() >= y.rank) return c.Fail("axis %d", p.axis());
  int64_t length = 0;
  for (int i = 0; i < c.InputCount(); ++i) {
    Shape x = ShapeOf(c.Input(i));
    if (c.Input(i).type() != c.Output().type() || x.rank != y.rank) {
      return c.Fail("operand %d does not match the result", i);
    }
    length += x.dims[p.axis()];
    x.dims[p.axis()] = y.dims[p.axis()];
    if (!(x == y)) return c.Fail("operand %d does not match the result", i);
  }
  return length == y.dims[p.axis()] || c.Fail("the lengths do not add up");
}

bool CheckPad(const OpCheck& c) {
  const PadParameters& p = *c.op->parameters_as_PadParameters();
  const Span<int64_t> before = View(p.before());
  const Shape x = ShapeOf(c.Input(0));
  if (c.Input(0).type() != c.Output().type() ||
      x.rank != ShapeOf(c.Output()).rank || before.size != x.rank) {
    return c.Fail("type or dimensions change");
  }
  if (!IsAligned(before)) return c.Fail("padding is not aligned");
  for (int64_t i = 0; i < before.size; ++i) {
    if (before.data[i] < -kMaxDimension || before.data[i] > kMaxDimension) {
      return c.Fail("padding of %lld", static_cast<long long>(before.data[i]));
    }
  }
  return true;
}

bool CheckSlice(const OpCheck& c) {
  const SliceParameters& p = *c.op->parameters_as_SliceParameters();
  const Span<int64_t> starts = View(p.starts());
  const Span<int64_t> steps = View(p.steps());
  const Shape x = ShapeOf(c.Input(0));
  const Shape y = ShapeOf(c.Output());
  if (c.Input(0).type() != c.Output().type() || x.rank != y.rank ||
      starts.size != x.rank || steps.size != x.rank) {
    return c.Fail("type or dimensions change");
  }
  if (!IsAligned(starts) || !IsAligned(steps)) {
    return c.Fail("starts or steps are not aligned");
  }
  for (int d = 0; d < x.rank; ++d) {
    const int64_t step = steps.data[d];
    if (step == 0 || step < -kMaxDimension || step > kMaxDimension ||
        starts.data[d] < 0 || starts.data[d] >= x.dims[d]) {
      return c.Fail("start or step of dimension %d", d);
    }
    const int64_t last = starts.data[d] + (y.dims[d] - 1) * step;
    if (last < 0 || last >= x.dims[d]) {
      return c.Fail("dimension %d leaves the input", d);
    }
  }
  return true;
}

}  // namespace fold::format
