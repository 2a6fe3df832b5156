#include "compiler/ops/exact_rounding.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

namespace fold {
namespace {

// The nearest integer to x / scale for two float32 numbers, in whole numbers
// alone: both are integers times a power of two.
int64_t Nearest(float x, float scale) {
  int ex, es;
  auto nx = static_cast<__int128>(std::ldexp(std::frexp(x, &ex), 24));
  auto ns = static_cast<__int128>(std::ldexp(std::frexp(scale, &es), 24));
  const int shift = ex - es;  // x / scale = nx / ns * 2^shift
  if (shift > 70)
    return (x < 0) != (scale < 0) ? -(int64_t{1} << 40) : int64_t{1} << 40;
  if (shift < -60) return 0;
  if (shift > 0) nx <<= shift;
  if (shift < 0) ns <<= -shift;
  if (ns < 0) {
    ns = -ns;
    nx = -nx;
  }
  __int128 down = nx / ns;
  if (down * ns > nx) --down;
  const __int128 twice = 2 * (nx - down * ns);
  if (twice > ns || (twice == ns && (down & 1))) ++down;
  const __int128 limit = __int128{1} << 40;
  return static_cast<int64_t>(down > limit    ? limit
                              : down < -limit ? -limit
                                              : down);
}

TEST(ExactRounding, TiesGoToEven) {
  EXPECT_EQ(DivideToNearest(0.25, 0.5), 0);
  EXPECT_EQ(DivideToNearest(0.75, 0.5), 2);
  EXPECT_EQ(DivideToNearest(1.25, 0.5), 2);
  EXPECT_EQ(DivideToNearest(-0.25, 0.5), 0);
  EXPECT_EQ(DivideToNearest(-0.75, 0.5), -2);
  EXPECT_EQ(DivideToNearest(2.5, -1), -2);
  EXPECT_EQ(DivideToNearest(-3.5, -1), 4);
}

// 0.15 and 0.1 as float32 numbers: 1.5000001 and 1.4999999… must not meet 1.5.
TEST(ExactRounding, NearTies) {
  for (int k = 0; k < 2000; ++k) {
    const float scale = 0.1f * static_cast<float>(k + 1) / 7;
    const float half = scale * (static_cast<float>(k % 255) + 0.5f);
    for (float x :
         {half, std::nextafterf(half, 0), std::nextafterf(half, INFINITY)}) {
      EXPECT_EQ(DivideToNearest(x, scale), Nearest(x, scale))
          << x << " / " << scale;
    }
  }
}

TEST(ExactRounding, DrawnNumbers) {
  std::mt19937 engine(1);
  for (int i = 0; i < 200000; ++i) {
    uint32_t bits[2] = {static_cast<uint32_t>(engine()),
                        static_cast<uint32_t>(engine())};
    if (i % 2) {  // exponents close together
      const uint32_t exponent = 0x3f000000u + (engine() % 8 << 23);
      bits[0] = (bits[0] & 0x80ffffffu) | exponent;
      bits[1] = (bits[1] & 0x007fffffu) | 0x3e000000u;
    }
    float x, scale;
    std::memcpy(&x, &bits[0], 4);
    std::memcpy(&scale, &bits[1], 4);
    if (!std::isfinite(x) || !std::isfinite(scale) || scale == 0) continue;
    ASSERT_EQ(DivideToNearest(x, scale), Nearest(x, scale))
        << "seed 1, number " << i << ": " << x << " / " << scale;
  }
}

TEST(ExactRounding, ExceptionalValues) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(DivideToNearest(NAN, 1), 0);
  EXPECT_EQ(DivideToNearest(0, 0), 0);
  EXPECT_EQ(DivideToNearest(kInfinity, 1), int64_t{1} << 40);
  EXPECT_EQ(DivideToNearest(-kInfinity, 1), -(int64_t{1} << 40));
  EXPECT_EQ(DivideToNearest(1, 0), int64_t{1} << 40);
  EXPECT_EQ(DivideToNearest(3e38, 1e-38f), int64_t{1} << 40);
  EXPECT_EQ(DivideToNearest(-0.0, 1), 0);
}

TEST(DivideAndRound, IsTheRounding) {
  for (int r = 0; r <= static_cast<int>(Rounding::kSign); ++r) {
    const auto rounding = static_cast<Rounding>(r);
    for (int i = -40; i <= 40; ++i) {
      const double q = i / 8.0;
      double want = 0;
      switch (rounding) {
        case Rounding::kHalfEven:
          want = std::nearbyint(q);
          break;
        case Rounding::kHalfOdd:
          want = std::nearbyint(q + 1) - 1;
          break;
        case Rounding::kHalfFromZero:
          want = std::round(q);
          break;
        case Rounding::kHalfToZero:
          want = std::copysign(std::ceil(std::abs(q) - 0.5), q);
          break;
        case Rounding::kHalfUp:
          want = std::floor(q + 0.5);
          break;
        case Rounding::kFloor:
          want = std::floor(q);
          break;
        case Rounding::kCeil:
          want = std::ceil(q);
          break;
        case Rounding::kFromZero:
          want = std::copysign(std::ceil(std::abs(q)), q);
          break;
        case Rounding::kToZero:
          want = std::trunc(q);
          break;
        case Rounding::kSign:
          want = q >= 0 ? 1 : -1;
          break;
        case Rounding::kHalfEvenCode:
          break;
      }
      EXPECT_EQ(DivideAndRound(q * 0.25, 0.25, rounding),
                static_cast<int64_t>(want))
          << RoundingName(rounding) << " of " << q;
    }
  }
}

}  // namespace
}  // namespace fold
