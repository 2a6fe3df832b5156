// Float islands.
#include <cmath>

#include "runtime/format/check.h"

namespace fold::format {
namespace {

// Operands 0 .. operands - 1 and the result are F64.
bool CheckDoubles(const OpCheck& c) {
  for (int i = 0; i < c.InputCount(); ++i) {
    if (c.Input(i).type() != ElementType::F64) {
      return c.Fail("operand %d is not F64", i);
    }
  }
  return c.Output().type() == ElementType::F64 || c.Fail("result is not F64");
}

struct Planes {
  ImageShape x;
  ImageShape y;
};

bool ResolvePlanes(const OpCheck& c, Planes* planes) {
  if (!ResolveImage(ShapeOf(c.Input(0)), true, &planes->x) ||
      !ResolveImage(ShapeOf(c.Output()), true, &planes->y) ||
      planes->x.batch != planes->y.batch) {
    return c.Fail("not images of one batch");
  }
  return true;
}

bool CheckSameShape(const OpCheck& c) {
  return ShapeOf(c.Input(0)) == ShapeOf(c.Output()) ||
         c.Fail("input and result differ in shape");
}

}  // namespace

bool CheckF64Conv(const OpCheck& c) {
  const ConvParameters& p = *c.op->parameters_as_ConvParameters();
  Planes planes;
  if (!CheckDoubles(c) || !ResolvePlanes(c, &planes) || !CheckWindow(c, p)) {
    return false;
  }
  const int64_t groups = p.groups();
  if (groups < 1 || planes.x.channels % groups != 0 ||
      planes.y.channels % groups != 0) {
    return c.Fail("%d groups", p.groups());
  }
  const int64_t depth = planes.x.channels / groups;
  const Shape weights = ShapeOf(c.Input(1));
  Shape expected;
  expected.rank = 4;
  expected.dims[0] = planes.y.channels;
  expected.dims[1] = depth;
  expected.dims[2] = p.kernel_height();
  expected.dims[3] = p.kernel_width();
  if (weights.rank < 3 || !SameIgnoringOnes(weights, expected)) {
    return c.Fail("weights do not fit the kernel");
  }
  if (c.InputCount() > 2 &&
      ShapeOf(c.Input(2)).Elements() != planes.y.channels) {
    return c.Fail("bias does not fit the channels");
  }
  return true;
}

bool CheckF64Gemm(const OpCheck& c) {
  const F64GemmParameters& p = *c.op->parameters_as_F64GemmParameters();
  if (!CheckDoubles(c)) return false;
  const Shape a = ShapeOf(c.Input(0));
  const Shape b = ShapeOf(c.Input(1));
  const Shape y = ShapeOf(c.Output());
  if (a.rank != 2 || b.rank != 2 || y.rank != 2) return c.Fail("rank is not 2");
  const int ta = p.transpose_a() ? 1 : 0;
  const int tb = p.transpose_b() ? 1 : 0;
  if (a.dims[ta] != y.dims[0] || a.dims[1 - ta] != b.dims[tb] ||
      b.dims[1 - tb] != y.dims[1]) {
    return c.Fail("shapes do not fit");
  }
  int64_t strides[kMaxDimensions];
  if (c.InputCount() > 2 &&
      !BroadcastStrides(ShapeOf(c.Input(2)), y, strides)) {
    return c.Fail("C does not broadcast to the result");
  }
  return true;
}

bool CheckF64Matmul(const OpCheck& c) {
  MatmulShape resolved;
  return CheckDoubles(c) &&
         (ResolveMatmul(ShapeOf(c.Input(0)), ShapeOf(c.Input(1)),
                        ShapeOf(c.Output()), &resolved) ||
          c.Fail("shapes do not fit"));
}

bool CheckF64Binary(const OpCheck& c) {
  const F64BinaryParameters& p = *c.op->parameters_as_F64BinaryParameters();
  if (!CheckDoubles(c)) return false;
  if (p.kind() > BinaryKind::POW) return c.Fail("unknown kind");
  int64_t strides[kMaxDimensions];
  for (int i = 0; i < 2; ++i) {
    if (!BroadcastStrides(ShapeOf(c.Input(i)), ShapeOf(c.Output()), strides)) {
      return c.Fail("operand %d does not broadcast to the result", i);
    }
  }
  return true;
}

bool CheckF64Unary(const OpCheck& c) {
  const F64UnaryParameters& p = *c.op->parameters_as_F64UnaryParameters();
  if (p.kind() > UnaryKind::SILU) return c.Fail("unknown kind");
  return CheckDoubles(c) && CheckSameShape(c);
}

bool CheckF64Softmax(const OpCheck& c) {
  const F64SoftmaxParameters& p = *c.op->parameters_as_F64SoftmaxParameters();
  if (!CheckDoubles(c) || !CheckSameShape(c)) return false;
  return (p.axis() >= 0 && p.axis() < ShapeOf(c.Output()).rank) ||
         c.Fail("axis %d", p.axis());
}

namespace {

bool CheckPlanePool(const OpCheck& c) {
  const PoolParameters& p = *c.op->parameters_as_PoolParameters();
  Planes planes;
  if (!CheckDoubles(c) || !ResolvePlanes(c, &planes) || !CheckWindow(c, p)) {
    return false;
  }
  return planes.x.channels == planes.y.channels || c.Fail("channels change");
}

bool CheckDivisors(const OpCheck& c, Span<int32_t> divisors, int64_t size) {
  if (divisors.size != size) {
    return c.Fail("%lld divisors for %lld positions",
                  static_cast<long long>(divisors.size),
                  static_cast<long long>(size));
  }
  return true;
}

}  // namespace

bool CheckF64AveragePool(const OpCheck& c) {
  const PoolParameters& p = *c.op->parameters_as_PoolParameters();
  if (!CheckPlanePool(c)) return false;
  ImageShape y;
  ResolveImage(ShapeOf(c.Output()), true, &y);
  return CheckDivisors(c, View(p.row_divisors()), y.height) &&
         CheckDivisors(c, View(p.column_divisors()), y.width);
}

bool CheckF64MaxPool(const OpCheck& c) { return CheckPlanePool(c); }

bool CheckReduction(const OpCheck& c, const ReduceParameters& p) {
  const Shape x = ShapeOf(c.Input(0));
  const Span<int32_t> axes = View(p.axes());
  if (axes.size > x.rank) return c.Fail("too many axes");
  Shape expected = x;
  for (int64_t i = 0; i < axes.size; ++i) {
    if (axes.data[i] < 0 || axes.data[i] >= x.rank ||
        (i > 0 && axes.data[i] <= axes.data[i - 1])) {
      return c.Fail("axis %d", axes.data[i]);
    }
    expected.dims[axes.data[i]] = 1;
  }
  return SameIgnoringOnes(expected, ShapeOf(c.Output())) ||
         c.Fail("the result does not have the other dimensions");
}

bool CheckF64Reduce(const OpCheck& c) {
  const ReduceParameters& p = *c.op->parameters_as_ReduceParameters();
  if (p.kind() > ReduceKind::SUM_SQUARE) return c.Fail("unknown kind");
  return CheckDoubles(c) && CheckReduction(c, p);
}

bool CheckF64Cast(const OpCheck& c) {
  const ElementType from = c.Input(0).type();
  const ElementType to = c.Output().type();
  const bool widens =
      to == ElementType::F64 && (from == ElementType::F32 || IsCode(from));
  const bool narrows = to == ElementType::F32 && from == ElementType::F64;
  if (!widens && !narrows) return c.Fail("no such conversion");
  return CheckSameShape(c);
}

}  // namespace fold::format
