#include "runtime/kernels/float64/float64.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/kernels/float64/functions.h"
#include "runtime/kernels/test_guarded.h"

namespace fold::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Distance in units of the last place of the long double result.
double Units(double got, long double want) {
  const double near = static_cast<double>(want);
  if (got == near) return 0;
  const double step =
      std::nextafter(std::fabs(near), kInfinity) - std::fabs(near);
  return static_cast<double>(std::fabs(got - want) / step);
}

double Uniform(std::mt19937_64* random, double least, double most) {
  return least + (most - least) * static_cast<double>((*random)() >> 11) /
                     9007199254740992.0;
}

template <typename Function, typename Exact>
double WorstError(Function function, Exact exact, double least, double most) {
  std::mt19937_64 random(1);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = Uniform(&random, least, most);
    worst = std::max(worst, Units(function(x), exact(x)));
  }
  return worst;
}

TEST(Float64, ElementaryFunctionsKeepTheirBounds) {
  const auto exp = [](double x) { return std::exp((long double)x); };
  const auto log = [](double x) { return std::log((long double)x); };
  const auto tanh = [](double x) { return std::tanh((long double)x); };
  const auto erf = [](double x) { return std::erf((long double)x); };
  const auto expm1 = [](double x) { return std::expm1((long double)x); };
  EXPECT_LT(WorstError(Exp, exp, -700, 709), 1.0);
  EXPECT_LT(WorstError(Exp, exp, -1, 1), 1.0);
  EXPECT_LT(WorstError(Log, log, 0, 3), 2.0);
  EXPECT_LT(WorstError(Log, log, 0, 1e300), 2.0);
  EXPECT_LT(WorstError(Log, log, 0, 1e-310), 2.0);
  EXPECT_LT(WorstError(ExpMinus1, expm1, -2, 2), 4.0);
  EXPECT_LT(WorstError(Tanh, tanh, -3, 3), 6.0);
  EXPECT_LT(WorstError(Tanh, tanh, -1e-5, 1e-5), 6.0);
  EXPECT_LT(WorstError(Erf, erf, -7, 7), 16.0);
  EXPECT_LT(WorstError(Erf, erf, -1e-5, 1e-5), 16.0);
}

TEST(Float64, ElementaryFunctionsAtTheEdges) {
  EXPECT_EQ(Exp(0), 1.0);
  EXPECT_EQ(Exp(-kInfinity), 0.0);
  EXPECT_EQ(Exp(kInfinity), kInfinity);
  EXPECT_EQ(Exp(710), kInfinity);
  EXPECT_GT(Exp(-745), 0.0);
  EXPECT_TRUE(std::isnan(Exp(kNaN)));
  EXPECT_EQ(Log(1), 0.0);
  EXPECT_EQ(Log(0), -kInfinity);
  EXPECT_EQ(Log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(Log(-1)));
  EXPECT_EQ(Tanh(100), 1.0);
  EXPECT_EQ(Tanh(-kInfinity), -1.0);
  EXPECT_EQ(Tanh(0), 0.0);
  EXPECT_EQ(Erf(10), 1.0);
  EXPECT_EQ(Erf(-10), -1.0);
  EXPECT_EQ(Sigmoid(0), 0.5);
  EXPECT_EQ(Sigmoid(-1000), 0.0);
  EXPECT_EQ(Sigmoid(1000), 1.0);
  for (double x : {0.5, 1.5, 2.5, -0.5, -1.5, 1e300, 0.49999999999999994}) {
    EXPECT_EQ(RoundHalfEven(x), std::nearbyint(x)) << x;
  }
}

// These bits were printed once; they must be the same on every machine,
// compiler and level.
TEST(Float64, FixedBits) {
  std::mt19937_64 random(7);
  uint64_t hash = 1469598103934665603u;
  for (int i = 0; i < 20000; ++i) {
    const double x = Uniform(&random, -8, 8);
    for (double y : {Exp(x), Log(std::fabs(x)), Tanh(x), Erf(x), Sigmoid(x)}) {
      uint64_t bits;
      std::memcpy(&bits, &y, 8);
      hash = (hash ^ bits) * 1099511628211u;
    }
  }
  EXPECT_EQ(hash, 6111297320470760076u);
}

TEST(Float64, ConvolutionByDefinition) {
  std::mt19937_64 random(2);
  F64Conv op;
  op.window.height = 5;
  op.window.width = 6;
  op.window.kernel_height = 3;
  op.window.kernel_width = 2;
  op.window.stride_height = 2;
  op.window.dilation_width = 2;
  op.window.pad_top = 1;
  op.window.pad_left = 1;
  op.depth = 2;
  op.channels_per_group = 3;
  op.out_height = 3;
  op.out_width = 6;
  std::vector<double> x(4 * 30), w(6 * 2 * 6), bias(6);
  for (auto* v : {&x, &w, &bias}) {
    for (double& value : *v) value = Uniform(&random, -1, 1);
  }
  op.image = x.data();
  op.weights = w.data();
  op.bias = bias.data();
  for (int64_t channel = 0; channel < 6; ++channel) {
    Guarded<double> out(18);
    F64ConvPlane(op, channel, out.data());
    ASSERT_TRUE(out.Intact());
    for (int64_t i = 0; i < 18; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < 12; ++k) {
        const int64_t y = i / 6 * 2 - 1 + k / 2 % 3;
        const int64_t column = i % 6 - 1 + k % 2 * 2;
        if (y < 0 || y >= 5 || column < 0 || column >= 6) continue;
        const int64_t plane = channel / 3 * 2 + k / 6;
        sum += x[plane * 30 + y * 6 + column] * w[channel * 12 + k];
      }
      ASSERT_EQ(out.data()[i], sum + bias[channel]);
    }
  }
}

TEST(Float64, ProductWithAnyStrides) {
  const double a[] = {1, 2, 3, 4, 5, 6};
  const double b[] = {1, 10, 100, 1000, 10000, 100000};
  Guarded<double> out(4);
  F64Product op;
  op.a = a;
  op.b = b;
  op.out = out.data();
  op.rows = 2;
  op.depth = 3;
  op.columns = 2;
  op.a_row = 3;
  op.a_depth = 1;
  op.b_depth = 2;
  op.b_column = 1;
  F64MatrixProduct(op);
  EXPECT_EQ(out.data()[0], 1 + 200 + 30000);
  EXPECT_EQ(out.data()[3], 40 + 5000 + 600000);
  op.a_row = 1;  // both transposed
  op.a_depth = 2;
  op.b_depth = 1;
  op.b_column = 3;
  F64MatrixProduct(op);
  EXPECT_EQ(out.data()[0], 1 + 30 + 500);
  EXPECT_EQ(out.data()[3], 2000 + 40000 + 600000);
  EXPECT_TRUE(out.Intact());
}

TEST(Float64, Pointwise) {
  EXPECT_EQ(F64BinaryOne(F64BinaryKind::kSub, 5, 3), 2);
  EXPECT_EQ(F64BinaryOne(F64BinaryKind::kDiv, 1, 0), kInfinity);
  EXPECT_EQ(F64BinaryOne(F64BinaryKind::kMin, 1, -2), -2);
  EXPECT_TRUE(std::isnan(F64BinaryOne(F64BinaryKind::kMax, 1, kNaN)));
  EXPECT_EQ(F64BinaryOne(F64BinaryKind::kPow, 2.25, 0.5), 1.5);
  EXPECT_EQ(F64BinaryOne(F64BinaryKind::kPow, -3, 3), -27);
  EXPECT_EQ(F64BinaryOne(F64BinaryKind::kPow, 2, -3), 0.125);
  EXPECT_EQ(F64BinaryOne(F64BinaryKind::kPow, 5, 0), 1);
  EXPECT_TRUE(std::isnan(F64BinaryOne(F64BinaryKind::kPow, -2, 1.5)));
  for (double x : {0.01, 0.7, 1.0, 3.5, 1000.0}) {
    for (double y : {-2.5, -0.3, 0.1, 1.7, 65.0}) {
      EXPECT_NEAR(F64BinaryOne(F64BinaryKind::kPow, x, y) / std::pow(x, y), 1,
                  1e-12)
          << x << " " << y;
    }
  }
  const auto one = [](F64UnaryKind kind, double x) {
    return F64UnaryOne(kind, 0.25, 2.0, x);
  };
  EXPECT_EQ(one(F64UnaryKind::kRelu, -3), 0);
  EXPECT_EQ(one(F64UnaryKind::kClip, -3), 0.25);
  EXPECT_EQ(one(F64UnaryKind::kClip, 3), 2.0);
  EXPECT_EQ(one(F64UnaryKind::kSqrt, 2), std::sqrt(2.0));
  EXPECT_EQ(one(F64UnaryKind::kNeg, 2), -2);
  EXPECT_EQ(one(F64UnaryKind::kAbs, -2), 2);
  EXPECT_EQ(one(F64UnaryKind::kReciprocal, 4), 0.25);
  EXPECT_EQ(one(F64UnaryKind::kLeakyRelu, -4), -1);
  EXPECT_NEAR(one(F64UnaryKind::kElu, -1), 0.25 * (std::exp(-1) - 1), 1e-15);
  EXPECT_EQ(one(F64UnaryKind::kHardSigmoid, -7), 0.25);
  EXPECT_EQ(one(F64UnaryKind::kHardSwish, 6), 6);
  EXPECT_NEAR(one(F64UnaryKind::kGelu, 1), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(one(F64UnaryKind::kSoftplus, 1), 1.3132616875182228, 1e-15);
  EXPECT_EQ(one(F64UnaryKind::kSoftplus, 1000), 1000);
  EXPECT_EQ(one(F64UnaryKind::kFloor, -1.5), -2);
  EXPECT_EQ(one(F64UnaryKind::kCeil, -1.5), -1);
  EXPECT_EQ(one(F64UnaryKind::kRound, 2.5), 2);
  EXPECT_EQ(one(F64UnaryKind::kSign, -7), -1);
  EXPECT_NEAR(one(F64UnaryKind::kSilu, 2), 2 / (1 + std::exp(-2)), 1e-15);
}

TEST(Float64, SoftmaxAlongAMiddleAxisInPlace) {
  std::mt19937_64 random(3);
  std::vector<double> x(2 * 5 * 3);
  for (double& value : x) value = Uniform(&random, -10, 10);
  std::vector<double> y = x;
  F64Softmax(y.data(), 2, 5, 3, y.data());
  for (int o = 0; o < 2; ++o) {
    for (int i = 0; i < 3; ++i) {
      double sum = 0;
      for (int k = 0; k < 5; ++k) sum += std::exp(x[o * 15 + k * 3 + i]);
      for (int k = 0; k < 5; ++k) {
        EXPECT_NEAR(y[o * 15 + k * 3 + i],
                    std::exp(x[o * 15 + k * 3 + i]) / sum, 1e-15);
      }
    }
  }
}

TEST(Float64, Pools) {
  Window w;
  w.height = 2;
  w.width = 3;
  w.kernel_height = 2;
  w.kernel_width = 2;
  w.pad_left = 1;
  const double x[] = {1, 2, 3, 40, 50, kNaN};
  const int32_t rows[] = {2};
  const int32_t columns[] = {1, 2, 2};
  double out[3];
  F64AveragePoolPlane(w, x, rows, columns, 1, 3, out);
  EXPECT_EQ(out[0], 41.0 / 2);
  EXPECT_EQ(out[1], 93.0 / 4);
  F64MaxPoolPlane(w, x, 1, 3, out);
  EXPECT_EQ(out[0], 40);
  EXPECT_EQ(out[1], 50);
  EXPECT_TRUE(std::isnan(out[2]));
}

TEST(Float64, Reductions) {
  const double x[] = {1, 5, 3, -2, 4, 0};  // [2][3], the rows are reduced
  StridedShape kept;
  kept.dims[0] = 3;
  kept.a_strides[0] = 1;
  StridedShape reduced;
  reduced.dims[0] = 2;
  reduced.a_strides[0] = 3;
  double out[3];
  F64Reduce(F64ReduceKind::kSum, kept, reduced, x, out);
  EXPECT_EQ(out[0], -1);
  F64Reduce(F64ReduceKind::kMean, kept, reduced, x, out);
  EXPECT_EQ(out[1], 4.5);
  F64Reduce(F64ReduceKind::kMax, kept, reduced, x, out);
  EXPECT_EQ(out[1], 5);
  F64Reduce(F64ReduceKind::kMin, kept, reduced, x, out);
  EXPECT_EQ(out[2], 0);
  F64Reduce(F64ReduceKind::kSumSquare, kept, reduced, x, out);
  EXPECT_EQ(out[0], 5);
}

TEST(Float64, Casts) {
  const float narrow[] = {0.1f, -2.5f};
  double wide[2];
  F64FromF32(narrow, 2, wide);
  EXPECT_EQ(wide[0], static_cast<double>(0.1f));
  const double precise[] = {0.1, 1e-60};
  float rounded[2];
  F64ToF32(precise, 2, rounded);
  EXPECT_EQ(rounded[0], 0.1f);
  EXPECT_EQ(rounded[1], 0.0f);
  const int8_t codes[] = {-128, 127};
  F64FromCodes(CodeType::kS8, codes, 2, wide);
  EXPECT_EQ(wide[0], -128);
  EXPECT_EQ(wide[1], 127);
}

}  // namespace
}  // namespace fold::kernels
