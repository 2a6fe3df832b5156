// Convolutions, products, pools and sums over integers.
#include "runtime/format/check.h"
#include "runtime/format/packing.h"
#include "runtime/format/scratch.h"

namespace fold::format {
namespace {

// x and result of a channels-last window op.
struct Images {
  ImageShape x;
  ImageShape y;
};

bool ResolveImages(const OpCheck& c, Images* images) {
  if (!ResolveImage(ShapeOf(c.Input(0)), false, &images->x) ||
      !ResolveImage(ShapeOf(c.Output()), false, &images->y) ||
      images->x.batch != images->y.batch) {
    return c.Fail("not images of one batch");
  }
  return true;
}

bool CheckZero(const OpCheck& c, int32_t zero) {
  return CheckBounds(c, zero, zero, c.Input(0).type());
}

// Packed weights, corrections and weight zero points of a matrix op.
bool CheckMatrix(const OpCheck& c, int64_t groups, int64_t columns,
                 int64_t depth) {
  if (!IsByteCode(c.Input(0).type())) return c.Fail("input is not 8-bit");
  const int64_t bytes = groups * PackedMatrixBytes(columns, depth);
  if (!CheckConstant(c, c.Input(1), ElementType::S8, bytes, "weights") ||
      !CheckConstant(c, c.Input(2), ElementType::S32, groups * columns,
                     "correction")) {
    return false;
  }
  if (c.InputCount() > 3 &&
      !CheckConstant(c, c.Input(3), ElementType::S32, groups * columns,
                     "weight zero points")) {
    return false;
  }
  if (c.op->scratch_bytes() <
      static_cast<uint64_t>(MinimumMatrixScratch(depth))) {
    return c.Fail("scratch is too small");
  }
  return true;
}

}  // namespace

bool CheckConv(const OpCheck& c) {
  const ConvParameters& p = *c.op->parameters_as_ConvParameters();
  Images images;
  if (!ResolveImages(c, &images) || !CheckWindow(c, p)) return false;
  const int64_t groups = p.groups();
  if (groups < 1 || images.x.channels % groups != 0 ||
      images.y.channels % groups != 0) {
    return c.Fail("%d groups", p.groups());
  }
  const int64_t taps = int64_t{p.kernel_height()} * p.kernel_width();
  const int64_t channels = images.x.channels / groups;
  constexpr int64_t kMaxDepth = int64_t{1} << 24;
  if (taps > kMaxDepth || taps * channels > kMaxDepth) {
    return c.Fail("kernel is too large");
  }
  return CheckMatrix(c, groups, images.y.channels / groups, taps * channels) &&
         CheckZero(c, p.input_zero()) &&
         CheckRequant(c, p.requant(), images.y.channels, c.Output().type());
}

bool CheckDepthwiseConv(const OpCheck& c) {
  const ConvParameters& p = *c.op->parameters_as_ConvParameters();
  Images images;
  if (!ResolveImages(c, &images) || !CheckWindow(c, p)) return false;
  if (!IsByteCode(c.Input(0).type())) return c.Fail("input is not 8-bit");
  if (images.y.channels % images.x.channels != 0 || p.groups() != 1) {
    return c.Fail("%lld channels to %lld",
                  static_cast<long long>(images.x.channels),
                  static_cast<long long>(images.y.channels));
  }
  const int64_t taps = int64_t{p.kernel_height()} * p.kernel_width();
  if (taps > (int64_t{1} << 24)) return c.Fail("kernel is too large");
  return CheckConstant(c, c.Input(1), ElementType::S16,
                       PackedDepthwiseElements(taps, images.y.channels),
                       "weights") &&
         CheckZero(c, p.input_zero()) &&
         CheckRequant(c, p.requant(), images.y.channels, c.Output().type());
}

bool CheckFullyConnected(const OpCheck& c) {
  const auto& p = *c.op->parameters_as_FullyConnectedParameters();
  const Shape x = ShapeOf(c.Input(0));
  const Shape y = ShapeOf(c.Output());
  if (y.rank < 1) return c.Fail("the result is a scalar");
  const int64_t columns = y.dims[y.rank - 1];
  const int64_t rows = y.Elements() / columns;
  if (x.Elements() % rows != 0 || x.Elements() / rows > kMaxDimension) {
    return c.Fail("the input does not divide into %lld rows",
                  static_cast<long long>(rows));
  }
  return CheckMatrix(c, 1, columns, x.Elements() / rows) &&
         CheckZero(c, p.input_zero()) &&
         CheckRequant(c, p.requant(), columns, c.Output().type());
}

bool CheckMaxPool(const OpCheck& c) {
  const PoolParameters& p = *c.op->parameters_as_PoolParameters();
  Images images;
  if (!ResolveImages(c, &images) || !CheckWindow(c, p)) return false;
  if (!IsCode(c.Input(0).type()) || c.Input(0).type() != c.Output().type() ||
      images.x.channels != images.y.channels) {
    return c.Fail("input and result do not match");
  }
  return true;
}

namespace {

// The largest of `classes`, which are `size` numbers from 0 or absent.
bool LargestClass(const OpCheck& c, Span<int32_t> classes, int64_t size,
                  int64_t* largest) {
  *largest = 0;
  if (classes.size == 0) return true;
  if (classes.size != size) {
    return c.Fail("%lld classes for %lld positions",
                  static_cast<long long>(classes.size),
                  static_cast<long long>(size));
  }
  if (!c.check->Spend(size)) return false;
  for (int64_t i = 0; i < size; ++i) {
    if (classes.data[i] < 0) return c.Fail("class %d", classes.data[i]);
    if (classes.data[i] > *largest) *largest = classes.data[i];
  }
  return true;
}

}  // namespace

bool CheckAveragePool(const OpCheck& c) {
  const PoolParameters& p = *c.op->parameters_as_PoolParameters();
  Images images;
  if (!ResolveImages(c, &images) || !CheckWindow(c, p)) return false;
  if (!IsCode(c.Input(0).type()) || images.x.channels != images.y.channels) {
    return c.Fail("input and result do not match");
  }
  int64_t row = 0;
  int64_t column = 0;
  if (!LargestClass(c, View(p.row_classes()), images.y.height, &row) ||
      !LargestClass(c, View(p.column_classes()), images.y.width, &column)) {
    return false;
  }
  if (p.column_class_count() < 1) return c.Fail("no column classes");
  const int64_t classes = row * p.column_class_count() + column + 1;
  return CheckZero(c, p.input_zero()) &&
         CheckRequant(c, p.requant(), classes, c.Output().type());
}

bool CheckTranspose(const OpCheck& c) {
  const auto& p = *c.op->parameters_as_TransposeParameters();
  const Shape x = ShapeOf(c.Input(0));
  const Span<int32_t> permutation = View(p.permutation());
  if (c.Input(0).type() != c.Output().type()) return c.Fail("type changes");
  if (!CheckPermutation(c, permutation, x.rank)) return false;
  if (!SameIgnoringOnes(Permuted(x, permutation.data), ShapeOf(c.Output()))) {
    return c.Fail("the result's shape is not the permuted one");
  }
  return true;
}

bool CheckReduceSum(const OpCheck& c) {
  const ReduceParameters& p = *c.op->parameters_as_ReduceParameters();
  if (!IsCode(c.Input(0).type()) || p.kind() != ReduceKind::SUM) {
    return c.Fail("not a sum of codes");
  }
  return CheckReduction(c, p) && CheckZero(c, p.input_zero()) &&
         CheckRequant(c, p.requant(), 1, c.Output().type());
}

}  // namespace fold::format
