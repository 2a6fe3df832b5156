#include "runtime/kernels/pool/pool.h"

#include <algorithm>

#include "runtime/kernels/test_guarded.h"

namespace fold::kernels {
namespace {

constexpr CodeType kTypes[] = {CodeType::kU8, CodeType::kS8, CodeType::kU16,
                               CodeType::kS16, CodeType::kS32};

void RequantizeRows(const Requantizer& r, const int32_t* acc, int64_t rows,
                    int64_t columns, int64_t acc_stride, int64_t first_channel,
                    void* out, int64_t out_stride) {
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int64_t row = i / columns;
    const int64_t column = i % columns;
    StoreCode(
        r.output, out, row * out_stride + column,
        Requantize(r, acc[row * acc_stride + column], first_channel + column));
  }
}

class Pools : public ::testing::Test {
 protected:
  int64_t Pick(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_() % (most - least + 1));
  }
  Window AnyWindow() {
    Window w;
    w.height = Pick(1, 7);
    w.width = Pick(1, 7);
    w.channels = Pick(1, 150);
    w.kernel_height = Pick(1, 8);
    w.kernel_width = Pick(1, 4);
    w.stride_height = Pick(1, 3);
    w.stride_width = Pick(1, 3);
    w.dilation_height = Pick(1, 2);
    w.dilation_width = Pick(1, 2);
    w.pad_top = Pick(0, 5);
    w.pad_left = Pick(0, 5);
    return w;
  }
  std::mt19937_64 random_{1};
};

TEST_F(Pools, Max) {
  for (int i = 0; i < 400; ++i) {
    const Window w = AnyWindow();
    const CodeType type = kTypes[i % 5];
    Guarded<uint8_t> image(w.height * w.width * w.channels * CodeBytes(type));
    FillAny(&image, &random_);
    const int64_t width = Pick(1, 6);
    const int64_t y = Pick(0, 6);
    Guarded<uint8_t> want(width * w.channels * CodeBytes(type), 1);
    Guarded<uint8_t> got(width * w.channels * CodeBytes(type), 2);
    MaxPoolRowReference(w, type, image.data(), y, width, want.data());
    MaxPoolRow(w, type, image.data(), y, width, got.data());
    ASSERT_EQ(got.Copy(), want.Copy());
    ASSERT_TRUE(got.Intact());
  }
}

TEST_F(Pools, AverageWithClasses) {
  const int64_t multipliers[] = {1, 5, -2, 7, 1, 3};
  const int64_t addends[] = {0, 3, 9, -100, 1, 1};
  const int64_t divisors[] = {4, 6, 9, 2, 1, 12};
  for (int i = 0; i < 400; ++i) {
    AveragePoolRow op;
    op.window = AnyWindow();
    op.type = kTypes[i % 5];
    op.x_zero = Pick(-128, 127);
    op.out_y = Pick(0, 6);
    op.out_width = Pick(1, 6);
    const std::vector<int32_t> classes = {2, 0, 1, 1, 0, 2};
    op.column_classes = i % 3 == 0 ? nullptr : classes.data();
    op.first_class = Pick(0, 3);
    op.requant.form = i % 4 == 0 ? RequantForm::kNone : RequantForm::kRemainder;
    op.requant.per_channel = true;
    op.requant.multipliers = multipliers;
    op.requant.addends = addends;
    op.requant.divisors = divisors;
    op.requant.output = i % 4 == 0 ? CodeType::kS32 : CodeType::kS8;
    op.requant.lo = -128;
    op.requant.hi = 127;
    Guarded<uint8_t> image(op.window.height * op.window.width *
                           op.window.channels * CodeBytes(op.type));
    FillAny(&image, &random_);
    op.image = image.data();
    const int64_t bytes =
        op.out_width * op.window.channels * CodeBytes(op.requant.output);
    Guarded<uint8_t> want(bytes, 1);
    Guarded<uint8_t> got(bytes, 2);
    op.out = want.data();
    AveragePoolReference(op);
    op.out = got.data();
    AveragePool(op, RequantizeRows);
    ASSERT_EQ(got.Copy(), want.Copy());
    ASSERT_TRUE(got.Intact());
  }
}

TEST_F(Pools, ReduceSum) {
  const int64_t multiplier = 3;
  const int64_t addend = 1;
  const uint8_t shift = 2;
  for (int i = 0; i < 200; ++i) {
    // x is [4][70][3]; some dimensions are kept.
    ReduceSum op;
    const int64_t dims[] = {4, 70, 3};
    const int64_t strides[] = {210, 3, 1};
    op.kept.rank = op.reduced.rank = 3;
    for (int d = 0; d < 3; ++d) {
      const bool keep = (i >> d & 1) != 0;
      op.kept.dims[d] = keep ? dims[d] : 1;
      op.reduced.dims[d] = keep ? 1 : dims[d];
      op.kept.a_strides[d] = op.reduced.a_strides[d] = strides[d];
    }
    op.type = kTypes[i % 5];
    op.x_zero = Pick(-100, 100);
    op.requant.form = RequantForm::kHalfEven64;
    op.requant.multipliers = &multiplier;
    op.requant.addends = &addend;
    op.requant.shifts = &shift;
    op.requant.output = CodeType::kS16;
    op.requant.lo = -20000;
    op.requant.hi = 20000;
    Guarded<uint8_t> x(840 * CodeBytes(op.type));
    FillAny(&x, &random_);
    op.x = x.data();
    const int64_t count = op.kept.Elements();
    Guarded<int16_t> want(count, 1);
    Guarded<int16_t> got(count, 2);
    op.out = want.data();
    ReduceSumRangeReference(op, 0, count);
    op.out = got.data();
    ReduceSumRange(op, 0, count / 2);
    ReduceSumRange(op, count / 2, count);
    ASSERT_EQ(got.Copy(), want.Copy());
    ASSERT_TRUE(got.Intact());
  }
}

TEST_F(Pools, ReferencesAreTheDefinition) {
  Window w;
  w.height = 1;
  w.width = 3;
  w.kernel_width = 2;
  w.pad_left = 1;
  const int8_t image[] = {-5, 7, 3};
  int8_t largest[5];
  MaxPoolRowReference(w, CodeType::kS8, image, 0, 5, largest);
  const int8_t want[] = {-5, 7, 7, 3, -128};
  EXPECT_TRUE(std::equal(largest, largest + 5, want));
  AveragePoolRow op;
  op.window = w;
  op.image = image;
  op.x_zero = 1;
  op.out_width = 3;
  op.requant.output = CodeType::kS32;
  int32_t sums[3];
  op.out = sums;
  AveragePoolReference(op);
  EXPECT_EQ(sums[0], -6);
  EXPECT_EQ(sums[1], 0);
  EXPECT_EQ(sums[2], 8);
}

}  // namespace
}  // namespace fold::kernels
