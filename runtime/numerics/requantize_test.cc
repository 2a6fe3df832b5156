// The rounding rules against rational arithmetic in 128 bits.
#include "runtime/numerics/requantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace fold {
namespace {

// t / d rounded half to even, from the definition: the whole number y with
// |t - y d| < d / 2, or the even one of the two at a distance of d / 2.
int64_t HalfEvenByDefinition(int64_t t, int64_t d) {
  const Int128 wide = t;
  Int128 y = wide / d - 2;
  while (2 * (wide - y * d) > d) ++y;
  const bool tie = 2 * (wide - y * d) == d;
  if (tie && y % 2 != 0) ++y;
  return static_cast<int64_t>(y);
}

std::vector<int64_t> Numbers(std::mt19937_64* random, int count) {
  std::vector<int64_t> numbers = {0,         1,         -1,        2,
                                  -2,        3,         INT64_MAX, INT64_MIN,
                                  INT32_MAX, INT32_MIN, 127,       -128};
  for (int i = 0; i < count; ++i) {
    numbers.push_back(static_cast<int64_t>((*random)()) >> (*random)() % 64);
  }
  return numbers;
}

static_assert(HalfEvenShift(5, 1) == 2, "2.5 -> 2");
static_assert(HalfEvenShift(7, 1) == 4, "3.5 -> 4");
static_assert(HalfEvenShift(-5, 1) == -2, "-2.5 -> -2");
static_assert(HalfEvenShift(-7, 1) == -4, "-3.5 -> -4");
static_assert(HalfEvenShift(-7, 0) == -7, "whole numbers stay");
static_assert(FloorShift(-1, 5) == -1, "floor");
static_assert(HalfEvenDivide(9, 6) == 2, "1.5 -> 2");
static_assert(HalfEvenDivide(-9, 6) == -2, "-1.5 -> -2");
static_assert(HalfEvenDivide(15, 6) == 2, "2.5 -> 2");
static_assert(HalfEvenDivide(-15, 6) == -2, "-2.5 -> -2");

TEST(Requantize, SmallNumbersExhaustively) {
  for (int64_t t = -3000; t <= 3000; ++t) {
    for (int shift = 0; shift <= 12; ++shift) {
      ASSERT_EQ(HalfEvenShift(t, shift),
                HalfEvenByDefinition(t, int64_t{1} << shift));
    }
    for (int64_t d = 1; d <= 60; ++d) {
      ASSERT_EQ(HalfEvenDivide(t, d), HalfEvenByDefinition(t, d)) << t << d;
    }
  }
}

TEST(Requantize, LargeNumbers) {
  std::mt19937_64 random(1);
  for (int64_t t : Numbers(&random, 3000)) {
    for (int shift : {0, 1, 2, 31, 32, 33, 61, 62}) {
      ASSERT_EQ(HalfEvenShift(t, shift),
                HalfEvenByDefinition(t, int64_t{1} << shift));
    }
    for (int64_t d : {int64_t{1}, int64_t{3}, int64_t{1} << 31,
                      (int64_t{1} << 62) - 1, int64_t{1} << 62}) {
      ASSERT_EQ(HalfEvenDivide(t, d), HalfEvenByDefinition(t, d));
    }
  }
}

// floor((acc m + c) / 2^s) where nothing wraps, from 128-bit division.
TEST(Requantize, Mul64AndMul128) {
  std::mt19937_64 random(2);
  const std::vector<int64_t> numbers = Numbers(&random, 60);
  for (int64_t acc : numbers) {
    for (int64_t m : numbers) {
      for (int64_t c : numbers) {
        const int shift = static_cast<int>(random() % 63);
        const Int128 t = static_cast<Int128>(acc) * m + c;
        const Int128 unit = static_cast<Int128>(1) << shift;
        Int128 y = t / unit;
        if (t % unit < 0) --y;
        const int64_t want = static_cast<int64_t>(y < -100   ? -100
                                                  : y > 1000 ? 1000
                                                             : y);
        ASSERT_EQ(Mul128(acc, m, c < 0 ? -1 : 0, c, shift, -100, 1000), want);
        if (t > INT64_MAX || t < INT64_MIN) continue;
        Requantizer r;
        const uint8_t shifts[] = {static_cast<uint8_t>(shift)};
        r.form = RequantForm::kMul64;
        r.multipliers = &m;
        r.addends = &c;
        r.shifts = shifts;
        r.lo = -100;
        r.hi = 1000;
        ASSERT_EQ(Requantize(r, acc, 7), want);
      }
    }
  }
}

TEST(Requantize, Mul128UsesTheHighAddend) {
  // (3 + 5 * 2^64) / 2^64 = 5
  EXPECT_EQ(Mul128(1, 3, 5, 0, 64, -100, 100), 5);
  EXPECT_EQ(Mul128(-1, 3, 5, 0, 64, -100, 100), 4);
  EXPECT_EQ(Mul128(0, 0, -1, -1, 126, -100, 100), -1);
}

TEST(Requantize, HalfEvenAndRemainderAddTheZeroPointAfterRounding) {
  Requantizer r;
  const int64_t m = 1;
  const int64_t c = 0;
  const int64_t d = 6;
  const uint8_t s = 1;
  r.multipliers = &m;
  r.addends = &c;
  r.divisors = &d;
  r.shifts = &s;
  r.zero = 3;
  r.lo = -128;
  r.hi = 127;
  r.form = RequantForm::kHalfEven64;
  EXPECT_EQ(Requantize(r, 5, 0), 5);  // 2.5 -> 2, + 3
  EXPECT_EQ(Requantize(r, 1000, 0), 127);
  r.form = RequantForm::kRemainder;
  EXPECT_EQ(Requantize(r, 9, 0), 5);  // 1.5 -> 2, + 3
  EXPECT_EQ(Requantize(r, -9000, 0), -128);
}

TEST(Requantize, ThresholdsOfEachChannel) {
  const int64_t thresholds[] = {-5, 0, 10, 7, 7, 9};
  const int32_t first[] = {-2, 100};
  const uint8_t decreasing[] = {0, 1};
  Requantizer r;
  r.form = RequantForm::kThresholds;
  r.per_channel = true;
  r.thresholds = thresholds;
  r.threshold_count = 3;
  r.first_codes = first;
  r.decreasing = decreasing;
  r.lo = -128;
  r.hi = 127;
  EXPECT_EQ(Requantize(r, -6, 0), -2);
  EXPECT_EQ(Requantize(r, -5, 0), -1);
  EXPECT_EQ(Requantize(r, 9, 0), 0);
  EXPECT_EQ(Requantize(r, 10, 0), 1);
  EXPECT_EQ(Requantize(r, 6, 1), 100);
  EXPECT_EQ(Requantize(r, 7, 1), 98);
  EXPECT_EQ(Requantize(r, INT64_MAX, 1), 97);
}

TEST(Requantize, CountsThresholds) {
  std::mt19937_64 random(3);
  for (int size = 0; size < 40; ++size) {
    std::vector<int64_t> thresholds;
    thresholds.reserve(size);
    for (int i = 0; i < size; ++i) {
      thresholds.push_back(static_cast<int64_t>(random() % 20));
    }
    std::sort(thresholds.begin(), thresholds.end());
    for (int64_t acc = -1; acc < 22; ++acc) {
      int64_t want = 0;
      for (int64_t t : thresholds) want += t <= acc ? 1 : 0;
      ASSERT_EQ(CountReached(thresholds.data(), size, acc), want);
    }
  }
}

}  // namespace
}  // namespace fold
