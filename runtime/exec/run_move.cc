#include <cstring>

#include "runtime/exec/execution.h"
#include "runtime/kernels/move/move.h"

namespace fold::exec {
namespace {

using format::kMaxDimensions;
using format::Shape;

const uint8_t* At(const uint8_t* base, int64_t element, int64_t bytes) {
  return base + element * bytes;
}

}  // namespace

void RunTranspose(const OpRun& r) {
  const auto& p = *r.op->parameters_as_TransposeParameters();
  const Shape x = format::ShapeOf(r.Input(0));
  const int32_t* permutation = format::View(p.permutation()).data;
  const Shape y = format::Permuted(x, permutation);
  int64_t from[kMaxDimensions];
  format::RowMajorStrides(x, from);
  int64_t a[kMaxDimensions];
  int64_t b[kMaxDimensions];
  for (int d = 0; d < x.rank; ++d) a[d] = from[permutation[d]];
  format::RowMajorStrides(y, b);
  kernels::MoveBox op;
  op.box = Strided(y, a, b);
  op.element_bytes = format::ElementBytes(r.Input(0).type());
  op.x = r.InputAs<void>(0);
  op.out = r.OutputAs<void>();
  kernels::Move(op);
}

void RunCopy(const OpRun& r) {
  const void* x = r.InputAs<void>(0);
  void* out = r.OutputAs<void>();
  if (x != out) std::memcpy(out, x, static_cast<size_t>(r.Output().bytes()));
}

void RunConcat(const OpRun& r) {
  const int axis = r.op->parameters_as_ConcatParameters()->axis();
  const Shape y = format::ShapeOf(r.Output());
  int64_t b[kMaxDimensions];
  format::RowMajorStrides(y, b);
  kernels::MoveBox op;
  op.element_bytes = format::ElementBytes(r.Output().type());
  int64_t start = 0;
  for (int i = 0; i < r.InputCount(); ++i) {
    const Shape x = format::ShapeOf(r.Input(i));
    int64_t a[kMaxDimensions];
    format::RowMajorStrides(x, a);
    op.box = Strided(x, a, b);
    op.x = r.InputAs<void>(i);
    op.out = r.OutputAs<uint8_t>() + start * b[axis] * op.element_bytes;
    kernels::Move(op);
    start += x.dims[axis];
  }
}

void RunPad(const OpRun& r) {
  const format::PadParameters& p = *r.op->parameters_as_PadParameters();
  const int64_t* before = format::View(p.before()).data;
  const Shape x = format::ShapeOf(r.Input(0));
  const Shape y = format::ShapeOf(r.Output());
  kernels::MoveBox op;
  op.element_bytes = format::ElementBytes(r.Output().type());
  kernels::Fill(op.element_bytes, static_cast<uint64_t>(p.value()),
                y.Elements(), r.OutputAs<void>());
  int64_t a[kMaxDimensions];
  int64_t b[kMaxDimensions];
  format::RowMajorStrides(x, a);
  format::RowMajorStrides(y, b);
  // The part of the input that lands inside the result.
  Shape box = x;
  int64_t from = 0;
  int64_t to = 0;
  for (int d = 0; d < x.rank; ++d) {
    const int64_t first = before[d] < 0 ? -before[d] : 0;
    const int64_t room = y.dims[d] - before[d];
    const int64_t last = x.dims[d] < room ? x.dims[d] : room;
    if (last <= first) return;
    box.dims[d] = last - first;
    from += first * a[d];
    to += (first + before[d]) * b[d];
  }
  op.box = Strided(box, a, b);
  op.x = At(r.InputAs<uint8_t>(0), from, op.element_bytes);
  op.out = r.OutputAs<uint8_t>() + to * op.element_bytes;
  kernels::Move(op);
}

void RunSlice(const OpRun& r) {
  const format::SliceParameters& p = *r.op->parameters_as_SliceParameters();
  const int64_t* starts = format::View(p.starts()).data;
  const int64_t* steps = format::View(p.steps()).data;
  const Shape y = format::ShapeOf(r.Output());
  int64_t a[kMaxDimensions];
  int64_t b[kMaxDimensions];
  format::RowMajorStrides(format::ShapeOf(r.Input(0)), a);
  format::RowMajorStrides(y, b);
  int64_t from = 0;
  for (int d = 0; d < y.rank; ++d) {
    from += starts[d] * a[d];
    if (y.dims[d] > 1) a[d] *= steps[d];
  }
  kernels::MoveBox op;
  op.box = Strided(y, a, b);
  op.element_bytes = format::ElementBytes(r.Output().type());
  op.x = At(r.InputAs<uint8_t>(0), from, op.element_bytes);
  op.out = r.OutputAs<void>();
  kernels::Move(op);
}

}  // namespace fold::exec
