#include "runtime/exec/execution.h"
#include "runtime/exec/reduction.h"
#include "runtime/kernels/float64/float64.h"

namespace fold::exec {
namespace {

using format::kMaxDimensions;
using format::Shape;

struct Planes {
  format::ImageShape x;
  format::ImageShape y;
};

Planes PlanesOf(const OpRun& r) {
  Planes planes;
  format::ResolveImage(format::ShapeOf(r.Input(0)), true, &planes.x);
  format::ResolveImage(format::ShapeOf(r.Output()), true, &planes.y);
  return planes;
}

}  // namespace

void RunF64Conv(const OpRun& r) {
  const format::ConvParameters& p = *r.op->parameters_as_ConvParameters();
  const Planes planes = PlanesOf(r);
  kernels::F64Conv common;
  common.window = WindowFrom(p, planes.x);
  common.weights = r.InputAs<double>(1);
  common.bias = r.InputCount() > 2 ? r.InputAs<double>(2) : nullptr;
  common.depth = planes.x.channels / p.groups();
  common.channels_per_group = planes.y.channels / p.groups();
  common.out_height = planes.y.height;
  common.out_width = planes.y.width;
  const double* x = r.InputAs<double>(0);
  double* out = r.OutputAs<double>();
  const int64_t image = planes.x.channels * planes.x.height * planes.x.width;
  const int64_t plane = planes.y.height * planes.y.width;
  const int64_t channels = planes.y.channels;
  r.run->Share(planes.y.batch * channels, 1, r.run->workers,
               [&](int64_t begin, int64_t end, int64_t) {
                 kernels::F64Conv op = common;
                 for (int64_t i = begin; i < end; ++i) {
                   op.image = x + i / channels * image;
                   kernels::F64ConvPlane(op, i % channels, out + i * plane);
                 }
               });
}

void RunF64Gemm(const OpRun& r) {
  const auto& p = *r.op->parameters_as_F64GemmParameters();
  const Shape a = format::ShapeOf(r.Input(0));
  const Shape b = format::ShapeOf(r.Input(1));
  const Shape y = format::ShapeOf(r.Output());
  kernels::F64Product op;
  op.a = r.InputAs<double>(0);
  op.b = r.InputAs<double>(1);
  op.out = r.OutputAs<double>();
  op.rows = y.dims[0];
  op.columns = y.dims[1];
  op.depth = a.dims[p.transpose_a() ? 0 : 1];
  op.a_row = p.transpose_a() ? 1 : a.dims[1];
  op.a_depth = p.transpose_a() ? a.dims[1] : 1;
  op.b_depth = p.transpose_b() ? 1 : b.dims[1];
  op.b_column = p.transpose_b() ? b.dims[1] : 1;
  kernels::F64MatrixProduct(op);
  const int64_t count = y.Elements();
  for (int64_t i = 0; i < count; ++i) op.out[i] = p.alpha() * op.out[i];
  if (r.InputCount() < 3) return;
  const double* c = r.InputAs<double>(2);
  int64_t strides[kMaxDimensions];
  format::BroadcastStrides(format::ShapeOf(r.Input(2)), y, strides);
  for (int64_t i = 0; i < op.rows; ++i) {
    for (int64_t j = 0; j < op.columns; ++j) {
      op.out[i * op.columns + j] +=
          p.beta() * c[i * strides[0] + j * strides[1]];
    }
  }
}

void RunF64Matmul(const OpRun& r) {
  format::MatmulShape shape;
  format::ResolveMatmul(format::ShapeOf(r.Input(0)),
                        format::ShapeOf(r.Input(1)),
                        format::ShapeOf(r.Output()), &shape);
  const StridedShape batches =
      Strided(shape.batch, shape.a_batch, shape.b_batch);
  const int last = batches.rank - 1;
  kernels::F64Product op;
  op.rows = shape.rows;
  op.depth = shape.depth;
  op.columns = shape.columns;
  op.a_row = shape.depth;
  op.a_depth = 1;
  op.b_depth = shape.columns;
  op.b_column = 1;
  WalkRuns(batches, 0, batches.Elements(), INT64_MAX, [&](const Run& run) {
    for (int64_t i = 0; i < run.count; ++i) {
      op.a = r.InputAs<double>(0) + run.a + i * batches.a_strides[last];
      op.b = r.InputAs<double>(1) + run.b + i * batches.b_strides[last];
      op.out = r.OutputAs<double>() + (run.start + i) * op.rows * op.columns;
      kernels::F64MatrixProduct(op);
    }
  });
}

void RunF64Binary(const OpRun& r) {
  const auto& p = *r.op->parameters_as_F64BinaryParameters();
  const Shape y = format::ShapeOf(r.Output());
  int64_t a[kMaxDimensions];
  int64_t b[kMaxDimensions];
  format::BroadcastStrides(format::ShapeOf(r.Input(0)), y, a);
  format::BroadcastStrides(format::ShapeOf(r.Input(1)), y, b);
  kernels::F64Binary(static_cast<kernels::F64BinaryKind>(p.kind()),
                     Strided(y, a, b), r.InputAs<double>(0),
                     r.InputAs<double>(1), r.OutputAs<double>());
}

void RunF64Unary(const OpRun& r) {
  const auto& p = *r.op->parameters_as_F64UnaryParameters();
  const double* x = r.InputAs<double>(0);
  double* out = r.OutputAs<double>();
  r.run->Share(format::ShapeOf(r.Output()).Elements(), 1024, r.run->workers,
               [&](int64_t begin, int64_t end, int64_t) {
                 kernels::F64Unary(static_cast<kernels::F64UnaryKind>(p.kind()),
                                   p.alpha(), p.beta(), x + begin, end - begin,
                                   out + begin);
               });
}

void RunF64Softmax(const OpRun& r) {
  const int axis = r.op->parameters_as_F64SoftmaxParameters()->axis();
  const Shape x = format::ShapeOf(r.Input(0));
  int64_t outer = 1;
  int64_t inner = 1;
  for (int d = 0; d < axis; ++d) outer *= x.dims[d];
  for (int d = axis + 1; d < x.rank; ++d) inner *= x.dims[d];
  const int64_t block = x.dims[axis] * inner;
  r.run->Share(outer, 1 + 1024 / block, r.run->workers,
               [&](int64_t begin, int64_t end, int64_t) {
                 kernels::F64Softmax(r.InputAs<double>(0) + begin * block,
                                     end - begin, x.dims[axis], inner,
                                     r.OutputAs<double>() + begin * block);
               });
}

void RunF64AveragePool(const OpRun& r) {
  const format::PoolParameters& p = *r.op->parameters_as_PoolParameters();
  const Planes planes = PlanesOf(r);
  const Window window = WindowFrom(p, planes.x);
  const int64_t x_plane = planes.x.height * planes.x.width;
  const int64_t y_plane = planes.y.height * planes.y.width;
  for (int64_t i = 0; i < planes.y.batch * planes.y.channels; ++i) {
    kernels::F64AveragePoolPlane(window, r.InputAs<double>(0) + i * x_plane,
                                 format::View(p.row_divisors()).data,
                                 format::View(p.column_divisors()).data,
                                 planes.y.height, planes.y.width,
                                 r.OutputAs<double>() + i * y_plane);
  }
}

void RunF64MaxPool(const OpRun& r) {
  const format::PoolParameters& p = *r.op->parameters_as_PoolParameters();
  const Planes planes = PlanesOf(r);
  const Window window = WindowFrom(p, planes.x);
  const int64_t x_plane = planes.x.height * planes.x.width;
  const int64_t y_plane = planes.y.height * planes.y.width;
  for (int64_t i = 0; i < planes.y.batch * planes.y.channels; ++i) {
    kernels::F64MaxPoolPlane(window, r.InputAs<double>(0) + i * x_plane,
                             planes.y.height, planes.y.width,
                             r.OutputAs<double>() + i * y_plane);
  }
}

void RunF64Reduce(const OpRun& r) {
  const format::ReduceParameters& p = *r.op->parameters_as_ReduceParameters();
  const Reduction reduction =
      SplitReduction(format::ShapeOf(r.Input(0)), format::View(p.axes()));
  kernels::F64Reduce(static_cast<kernels::F64ReduceKind>(p.kind()),
                     reduction.kept, reduction.reduced, r.InputAs<double>(0),
                     r.OutputAs<double>());
}

void RunF64Cast(const OpRun& r) {
  const int64_t count = format::ShapeOf(r.Output()).Elements();
  if (r.Output().type() == format::ElementType::F32) {
    kernels::F64ToF32(r.InputAs<double>(0), count, r.OutputAs<float>());
  } else if (r.Input(0).type() == format::ElementType::F32) {
    kernels::F64FromF32(r.InputAs<float>(0), count, r.OutputAs<double>());
  } else {
    kernels::F64FromCodes(CodeTypeOf(r.Input(0).type()), r.InputAs<void>(0),
                          count, r.OutputAs<double>());
  }
}

}  // namespace fold::exec
