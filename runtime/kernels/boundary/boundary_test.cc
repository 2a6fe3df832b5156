#include "runtime/kernels/boundary/boundary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/test_guarded.h"

namespace fold::kernels {
namespace {

constexpr CodeType kTypes[] = {CodeType::kU8, CodeType::kS8, CodeType::kU16,
                               CodeType::kS16, CodeType::kS32};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// NCHW [2][3][4][5] read as NHWC; the channel is the last dimension.
StridedShape Permuted() {
  StridedShape s;
  s.rank = 4;
  const int64_t dims[] = {2, 4, 5, 3};
  const int64_t a[] = {60, 5, 1, 20};
  const int64_t b[] = {0, 0, 0, 1};
  std::copy(dims, dims + 4, s.dims);
  std::copy(a, a + 4, s.a_strides);
  std::copy(b, b + 4, s.b_strides);
  return s;
}

double AnyReal(std::mt19937_64* random) {
  const double extremes[] = {kNaN,   kInfinity, -kInfinity, 1e300, -1e300, 0.0,
                             -0.0,   0.5,       1.5,        2.5,   -0.5,   -1.5,
                             1e-320, 127.5,     255.5,      -128.5};
  const uint64_t r = (*random)();
  if (r % 3 == 0) return extremes[r >> 8 & 15u];
  return static_cast<double>(static_cast<int64_t>(r) >> 40) / 65536.0;
}

TEST(Boundary, QuantizeAllTypes) {
  std::mt19937_64 random(1);
  for (CodeType type : kTypes) {
    for (FloatType x_type : {FloatType::kF32, FloatType::kF64}) {
      std::vector<float> narrow(120);
      std::vector<double> wide(120);
      for (int i = 0; i < 120; ++i) {
        wide[i] = AnyReal(&random);
        narrow[i] = static_cast<float>(wide[i]);
      }
      const double scales[] = {1.0, 0.1, 3.7};
      const int64_t zeros[] = {LowestCode(type), HighestCode(type), 3};
      Quantize op;
      op.shape = Permuted();
      op.x_type = x_type;
      op.out_type = type;
      op.x = x_type == FloatType::kF32 ? static_cast<const void*>(narrow.data())
                                       : wide.data();
      op.scales = scales;
      op.zeros = zeros;
      op.lo = LowestCode(type);
      op.hi = HighestCode(type) - 2;
      Guarded<uint8_t> want(120 * CodeBytes(type), 1);
      Guarded<uint8_t> got(120 * CodeBytes(type), 2);
      op.out = want.data();
      QuantizeRangeReference(op, 0, 120);
      op.out = got.data();
      QuantizeRange(op, 0, 50);
      QuantizeRange(op, 50, 120);
      ASSERT_EQ(got.Copy(), want.Copy()) << static_cast<int>(type);
      ASSERT_TRUE(got.Intact());
    }
  }
}

TEST(Boundary, QuantizeRoundsAsTold) {
  std::mt19937_64 random(2);
  double x[120];
  for (double& value : x) value = AnyReal(&random);
  const double scales[] = {1.0, 0.25, 0.7};
  for (int r = 0; r < kRoundingCount; ++r) {
    Quantize op;
    op.shape = Permuted();
    op.x_type = FloatType::kF64;
    op.out_type = CodeType::kS8;
    op.rounding = static_cast<Rounding>(r);
    const bool sign = op.rounding == Rounding::kSign;
    const int64_t zeros[] = {0, sign ? 0 : -7, sign ? 0 : 100};
    op.x = x;
    op.scales = scales;
    op.zeros = zeros;
    op.lo = sign ? -1 : -100;
    op.hi = sign ? 1 : 120;
    Guarded<int8_t> want(120, 1), got(120, 2);
    op.out = want.data();
    QuantizeRangeReference(op, 0, 120);
    op.out = got.data();
    QuantizeRange(op, 0, 33);
    QuantizeRange(op, 33, 120);
    EXPECT_EQ(got.Copy(), want.Copy()) << r;
    ASSERT_TRUE(got.Intact());
  }
}

TEST(Boundary, RoundingsAreTheDefinitions) {
  const double x[] = {-2.5, -2, -1.5, -0.25, -0.0, 0.5, 1.5, 1.75, kNaN};
  const int8_t expected[kRoundingCount][9] = {
      {-2, -2, -2, 0, 0, 0, 2, 2, 0},    // half even
      {-3, -2, -1, 0, 0, 1, 1, 2, 0},    // half odd
      {-3, -2, -2, 0, 0, 1, 2, 2, 0},    // half from zero
      {-2, -2, -1, 0, 0, 0, 1, 2, 0},    // half to zero
      {-2, -2, -1, 0, 0, 1, 2, 2, 0},    // half up
      {-3, -2, -2, -1, 0, 0, 1, 1, 0},   // floor
      {-2, -2, -1, 0, 0, 1, 2, 2, 0},    // ceil
      {-3, -2, -2, -1, 0, 1, 2, 2, 0},   // from zero
      {-2, -2, -1, 0, 0, 0, 1, 1, 0},    // to zero
      {-1, -1, -1, -1, 1, 1, 1, 1, -1},  // sign
  };
  const double scale = 1;
  const int64_t zero = 0;
  for (int r = 0; r < kRoundingCount; ++r) {
    Quantize op;
    op.shape.rank = 1;
    op.shape.dims[0] = 9;
    op.shape.a_strides[0] = 1;
    op.x_type = FloatType::kF64;
    op.rounding = static_cast<Rounding>(r);
    op.x = x;
    op.scales = &scale;
    op.zeros = &zero;
    op.lo = op.rounding == Rounding::kSign ? -1 : -128;
    op.hi = op.rounding == Rounding::kSign ? 1 : 127;
    int8_t got[9];
    op.out = got;
    QuantizeRange(op, 0, 9);
    for (int i = 0; i < 9; ++i) EXPECT_EQ(got[i], expected[r][i]) << r << i;
  }
}

TEST(Boundary, QuantizeIsTheDefinition) {
  const double x[] = {0.5,  1.5,   2.5,  -0.5,      -1.5,
                      1e30, -1e30, kNaN, kInfinity, -kInfinity};
  const double scale = 1.0;
  const int64_t zero = 10;
  uint8_t out[10];
  Quantize op;
  op.shape.dims[0] = 10;
  op.shape.a_strides[0] = 1;
  op.x_type = FloatType::kF64;
  op.out_type = CodeType::kU8;
  op.x = x;
  op.out = out;
  op.scales = &scale;
  op.zeros = &zero;
  op.hi = 255;
  const uint8_t want[] = {10, 12, 12, 10, 8, 255, 0, 10, 255, 0};
  for (auto quantize : {QuantizeRange, QuantizeRangeReference}) {
    quantize(op, 0, 10);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(out[i], want[i]) << i;
  }
}

TEST(Boundary, DequantizeAllTypes) {
  std::mt19937_64 random(2);
  for (CodeType type : kTypes) {
    for (FloatType out_type : {FloatType::kF32, FloatType::kF64}) {
      Guarded<uint8_t> x(120 * CodeBytes(type));
      FillAny(&x, &random);
      const double scales[] = {1.0, 0.1, -3.7e-5};
      const int64_t zeros[] = {0, -100, 77};
      const double offsets[] = {0.25, -1e10, 3.0};
      Dequantize op;
      op.shape = Permuted();
      op.x_type = type;
      op.out_type = out_type;
      op.x = x.data();
      op.scales = scales;
      op.zeros = zeros;
      op.offsets = random() % 2 != 0 ? offsets : nullptr;
      const int64_t bytes = out_type == FloatType::kF32 ? 480 : 960;
      Guarded<uint8_t> want(bytes, 1);
      Guarded<uint8_t> got(bytes, 2);
      op.out = want.data();
      DequantizeRangeReference(op, 0, 120);
      op.out = got.data();
      DequantizeRange(op, 0, 70);
      DequantizeRange(op, 70, 120);
      ASSERT_EQ(got.Copy(), want.Copy());
      ASSERT_TRUE(got.Intact());
    }
  }
}

// One rounding: in double and then to float, not twice in float.
TEST(Boundary, DequantizeRoundsOnce) {
  const int32_t x = 16777217;  // not a float
  const double scale = 1.0;
  const int64_t zero = -16777216;
  float out;
  Dequantize op;
  op.shape.a_strides[0] = 1;
  op.x_type = CodeType::kS32;
  op.x = &x;
  op.out = &out;
  op.scales = &scale;
  op.zeros = &zero;
  DequantizeRange(op, 0, 1);
  EXPECT_EQ(out, 33554432.0f);
}

}  // namespace
}  // namespace fold::kernels
