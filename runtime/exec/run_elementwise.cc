#include "runtime/exec/execution.h"
#include "runtime/kernels/boundary/boundary.h"
#include "runtime/kernels/elementwise/elementwise.h"

namespace fold::exec {
namespace {

constexpr int64_t kGrain = 16384;

// Walks the result of a two-operand op.
StridedShape Pair(const OpRun& r) {
  const format::Shape y = format::ShapeOf(r.Output());
  int64_t a[format::kMaxDimensions];
  int64_t b[format::kMaxDimensions];
  format::BroadcastStrides(format::ShapeOf(r.Input(0)), y, a);
  format::BroadcastStrides(format::ShapeOf(r.Input(1)), y, b);
  return Strided(y, a, b);
}

// Walks `shape` against an operand of strides `a`; the b offset is the index
// along `axis`, if there are constants for each.
StridedShape WithChannel(const format::Shape& shape, const int64_t* a,
                         int32_t axis, bool per_channel) {
  int64_t b[format::kMaxDimensions] = {};
  if (per_channel && axis >= 0) b[axis] = 1;
  return Strided(shape, a, b);
}

// One operand of the result's shape.
StridedShape Same(const OpRun& r, int32_t axis, bool per_channel) {
  const format::Shape y = format::ShapeOf(r.Output());
  int64_t a[format::kMaxDimensions];
  format::RowMajorStrides(y, a);
  return WithChannel(y, a, axis, per_channel);
}

template <typename Op>
void ShareRange(const OpRun& r, const Op& op,
                void (*range)(const Op&, int64_t, int64_t)) {
  r.run->Share(
      format::ShapeOf(r.Output()).Elements(), kGrain, r.run->workers,
      [&](int64_t begin, int64_t end, int64_t) { range(op, begin, end); });
}

kernels::FloatType FloatTypeOf(format::ElementType type) {
  return type == format::ElementType::F32 ? kernels::FloatType::kF32
                                          : kernels::FloatType::kF64;
}

}  // namespace

void RunQuantize(const OpRun& r) {
  const auto& p = *r.op->parameters_as_QuantizeParameters();
  const format::Shape x = format::ShapeOf(r.Input(0));
  const int32_t* permutation = format::View(p.permutation()).data;
  // The result is walked as the permuted input: dimension i of the walk is
  // dimension permutation[i] of the input.
  int64_t logical[format::kMaxDimensions];
  format::RowMajorStrides(x, logical);
  int64_t a[format::kMaxDimensions];
  int64_t b[format::kMaxDimensions] = {};
  const bool per_channel = format::View(p.scales()).size > 1;
  for (int d = 0; d < x.rank; ++d) {
    const int from = permutation != nullptr ? permutation[d] : d;
    a[d] = logical[from];
    if (per_channel && from == p.axis()) b[d] = 1;
  }
  kernels::Quantize op;
  op.shape = Strided(format::Permuted(x, permutation), a, b);
  op.x_type = FloatTypeOf(r.Input(0).type());
  op.out_type = CodeTypeOf(r.Output().type());
  op.x = r.InputAs<void>(0);
  op.out = r.OutputAs<void>();
  op.scales = format::View(p.scales()).data;
  op.zeros = format::View(p.zero_points()).data;
  op.lo = p.lo();
  op.hi = p.hi();
  op.rounding = static_cast<kernels::Rounding>(p.rounding());
  ShareRange(r, op, kernels::QuantizeRange);
}

void RunDequantize(const OpRun& r) {
  const auto& p = *r.op->parameters_as_DequantizeParameters();
  const format::Shape y = format::ShapeOf(r.Output());
  const int32_t* permutation = format::View(p.permutation()).data;
  int64_t physical[format::kMaxDimensions];
  format::RowMajorStrides(format::Permuted(y, permutation), physical);
  int64_t a[format::kMaxDimensions];
  for (int d = 0; d < y.rank; ++d) {
    a[permutation != nullptr ? permutation[d] : d] = physical[d];
  }
  kernels::Dequantize op;
  op.shape = WithChannel(y, a, p.axis(), format::View(p.scales()).size > 1);
  op.x_type = CodeTypeOf(r.Input(0).type());
  op.out_type = FloatTypeOf(r.Output().type());
  op.x = r.InputAs<void>(0);
  op.out = r.OutputAs<void>();
  op.scales = format::View(p.scales()).data;
  op.zeros = format::View(p.zero_points()).data;
  op.offsets = format::View(p.offsets()).data;
  ShareRange(r, op, kernels::DequantizeRange);
}

void RunRequantize(const OpRun& r) {
  const auto& p = *r.op->parameters_as_RequantizeParameters();
  kernels::RequantizeCodes op;
  op.requant = RequantizerFrom(*p.requant(), r.Output().type());
  op.shape = Same(r, p.axis(), op.requant.per_channel);
  op.x_type = CodeTypeOf(r.Input(0).type());
  op.x = r.InputAs<void>(0);
  op.out = r.OutputAs<void>();
  op.x_zero = p.input_zero();
  ShareRange(r, op, kernels::RequantizeCodesRange);
}

void RunAdd2(const OpRun& r) {
  const format::Add2Parameters& p = *r.op->parameters_as_Add2Parameters();
  kernels::Add2 op;
  op.shape = Pair(r);
  op.a_type = CodeTypeOf(r.Input(0).type());
  op.b_type = CodeTypeOf(r.Input(1).type());
  op.out_type = CodeTypeOf(r.Output().type());
  op.a = r.InputAs<void>(0);
  op.b = r.InputAs<void>(1);
  op.out = r.OutputAs<void>();
  op.form = static_cast<kernels::PairForm>(p.form());
  op.a_multiplier = p.a_multiplier();
  op.b_multiplier = p.b_multiplier();
  op.addend = p.addend();
  op.shift = p.shift();
  op.divisor = p.divisor();
  op.zero = p.zero();
  op.lo = p.lo();
  op.hi = p.hi();
  ShareRange(r, op, kernels::Add2Range);
}

void RunMul2(const OpRun& r) {
  const format::Mul2Parameters& p = *r.op->parameters_as_Mul2Parameters();
  kernels::Mul2 op;
  op.shape = Pair(r);
  op.a_type = CodeTypeOf(r.Input(0).type());
  op.b_type = CodeTypeOf(r.Input(1).type());
  op.a = r.InputAs<void>(0);
  op.b = r.InputAs<void>(1);
  op.out = r.OutputAs<void>();
  op.a_zero = p.a_zero();
  op.b_zero = p.b_zero();
  op.requant = RequantizerFrom(*p.requant(), r.Output().type());
  ShareRange(r, op, kernels::Mul2Range);
}

void RunTable1(const OpRun& r) {
  const format::TableParameters& p = *r.op->parameters_as_TableParameters();
  const int64_t entries = int64_t{1}
                          << (8 * format::ElementBytes(r.Input(0).type()));
  kernels::Table1 op;
  op.shape =
      Same(r, p.axis(), format::ShapeOf(r.Input(1)).Elements() != entries);
  op.x_type = CodeTypeOf(r.Input(0).type());
  op.x = r.InputAs<void>(0);
  op.table = r.InputAs<void>(1);
  op.out = r.OutputAs<void>();
  op.element_bytes = format::ElementBytes(r.Output().type());
  ShareRange(r, op, kernels::Table1Range);
}

void RunTable2(const OpRun& r) {
  kernels::Table2 op;
  op.shape = Pair(r);
  op.a_type = CodeTypeOf(r.Input(0).type());
  op.b_type = CodeTypeOf(r.Input(1).type());
  op.a = r.InputAs<void>(0);
  op.b = r.InputAs<void>(1);
  op.table = r.InputAs<void>(2);
  op.out = r.OutputAs<void>();
  op.element_bytes = format::ElementBytes(r.Output().type());
  ShareRange(r, op, kernels::Table2Range);
}

void RunClamp(const OpRun& r) {
  const format::ClampParameters& p = *r.op->parameters_as_ClampParameters();
  kernels::ClampCodes op;
  op.type = CodeTypeOf(r.Output().type());
  op.x = r.InputAs<void>(0);
  op.out = r.OutputAs<void>();
  op.lo = p.lo();
  op.hi = p.hi();
  ShareRange(r, op, kernels::ClampCodesRange);
}

void RunReciprocal(const OpRun& r) {
  const auto& p = *r.op->parameters_as_ReciprocalParameters();
  kernels::ReciprocalCodes op;
  op.shape = Same(r, p.axis(), format::View(p.numerators()).size > 1);
  op.x_type = CodeTypeOf(r.Input(0).type());
  op.out_type = CodeTypeOf(r.Output().type());
  op.x = r.InputAs<void>(0);
  op.out = r.OutputAs<void>();
  op.x_zero = p.input_zero();
  op.numerators = format::View(p.numerators()).data;
  op.denominators = format::View(p.denominators()).data;
  op.zero = p.zero();
  op.lo = p.lo();
  op.hi = p.hi();
  ShareRange(r, op, kernels::ReciprocalRange);
}

}  // namespace fold::exec
