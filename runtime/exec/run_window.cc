// Pools and sums over integers.
#include "runtime/exec/execution.h"
#include "runtime/exec/reduction.h"
#include "runtime/kernels/pool/pool.h"

namespace fold::exec {
namespace {

struct Images {
  format::ImageShape x;
  format::ImageShape y;
};

Images ImagesOf(const OpRun& r) {
  Images images;
  format::ResolveImage(format::ShapeOf(r.Input(0)), false, &images.x);
  format::ResolveImage(format::ShapeOf(r.Output()), false, &images.y);
  return images;
}

// Bytes of one image, and of one row of results.
int64_t ImageBytes(const format::ImageShape& x, int64_t element) {
  return x.height * x.width * x.channels * element;
}

int64_t Grain(const format::ImageShape& y, int64_t taps) {
  return 1 + 65536 / (y.width * y.channels * taps + 1);
}

}  // namespace

void RunMaxPool(const OpRun& r) {
  const format::PoolParameters& p = *r.op->parameters_as_PoolParameters();
  const Images images = ImagesOf(r);
  const Window window = WindowFrom(p, images.x);
  const CodeType type = CodeTypeOf(r.Input(0).type());
  const int64_t image = ImageBytes(images.x, CodeBytes(type));
  const int64_t row = images.y.width * images.y.channels * CodeBytes(type);
  const uint8_t* x = r.InputAs<uint8_t>(0);
  uint8_t* out = r.OutputAs<uint8_t>();
  const int64_t height = images.y.height;
  r.run->Share(images.y.batch * height,
               Grain(images.y, window.kernel_height * window.kernel_width),
               r.run->workers, [&](int64_t begin, int64_t end, int64_t) {
                 for (int64_t i = begin; i < end; ++i) {
                   kernels::MaxPoolRow(window, type, x + i / height * image,
                                       i % height, images.y.width,
                                       out + i * row);
                 }
               });
}

void RunAveragePool(const OpRun& r) {
  const format::PoolParameters& p = *r.op->parameters_as_PoolParameters();
  const Images images = ImagesOf(r);
  kernels::AveragePoolRow common;
  common.window = WindowFrom(p, images.x);
  common.type = CodeTypeOf(r.Input(0).type());
  common.x_zero = p.input_zero();
  common.out_width = images.y.width;
  common.column_classes = format::View(p.column_classes()).data;
  common.requant = RequantizerFrom(*p.requant(), r.Output().type());
  const int32_t* row_classes = format::View(p.row_classes()).data;
  const int64_t image = ImageBytes(images.x, CodeBytes(common.type));
  const int64_t row =
      images.y.width * images.y.channels * CodeBytes(common.requant.output);
  const uint8_t* x = r.InputAs<uint8_t>(0);
  uint8_t* out = r.OutputAs<uint8_t>();
  const int64_t height = images.y.height;
  const int64_t taps = common.window.kernel_height * common.window.kernel_width;
  r.run->Share(images.y.batch * height, Grain(images.y, taps), r.run->workers,
               [&](int64_t begin, int64_t end, int64_t) {
                 kernels::AveragePoolRow op = common;
                 for (int64_t i = begin; i < end; ++i) {
                   op.image = x + i / height * image;
                   op.out_y = i % height;
                   op.first_class = row_classes != nullptr
                                        ? int64_t{row_classes[op.out_y]} *
                                              p.column_class_count()
                                        : 0;
                   op.out = out + i * row;
                   kernels::AveragePool(op, r.run->kernels.requantize);
                 }
               });
}

void RunReduceSum(const OpRun& r) {
  const format::ReduceParameters& p = *r.op->parameters_as_ReduceParameters();
  const Reduction reduction =
      SplitReduction(format::ShapeOf(r.Input(0)), format::View(p.axes()));
  kernels::ReduceSum op;
  op.kept = reduction.kept;
  op.reduced = reduction.reduced;
  op.type = CodeTypeOf(r.Input(0).type());
  op.x = r.InputAs<void>(0);
  op.x_zero = p.input_zero();
  op.requant = RequantizerFrom(*p.requant(), r.Output().type());
  op.out = r.OutputAs<void>();
  r.run->Share(op.kept.Elements(), 1 + 65536 / op.reduced.Elements(),
               r.run->workers, [&](int64_t begin, int64_t end, int64_t) {
                 kernels::ReduceSumRange(op, begin, end);
               });
}

}  // namespace fold::exec
