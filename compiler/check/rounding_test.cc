#include "compiler/check/rounding.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fold::check {
namespace {

constexpr Rounding kAll[] = {Rounding::kHalfEven,     Rounding::kHalfOdd,
                             Rounding::kHalfFromZero, Rounding::kHalfToZero,
                             Rounding::kHalfUp,       Rounding::kFloor,
                             Rounding::kCeil,         Rounding::kFromZero,
                             Rounding::kToZero,       Rounding::kSign};

double Meaning(Rounding rounding, double x) {
  switch (rounding) {
    case Rounding::kHalfEven:
      return std::nearbyint(x);
    case Rounding::kHalfOdd:
      return std::nearbyint(x - 1) + 1;
    case Rounding::kHalfFromZero:
      return std::round(x);
    case Rounding::kHalfToZero:
      return std::copysign(std::ceil(std::abs(x) - 0.5), x);
    case Rounding::kHalfUp:
      return std::floor(x + 0.5);
    case Rounding::kFloor:
      return std::floor(x);
    case Rounding::kCeil:
      return std::ceil(x);
    case Rounding::kFromZero:
      return std::copysign(std::ceil(std::abs(x)), x);
    case Rounding::kToZero:
      return std::trunc(x);
    case Rounding::kSign:
      return x >= 0 ? 1 : -1;
  }
  return 0;
}

TEST(Rounding, IsTheMeaning) {
  for (Rounding rounding : kAll) {
    for (int i = -24; i <= 24; ++i) {
      EXPECT_EQ(RoundTo(rounding, Number::FromDouble(i / 8.0)).get_d(),
                Meaning(rounding, i / 8.0))
          << static_cast<int>(rounding) << " of " << i / 8.0;
    }
  }
}

TEST(Rounding, StartsAreWhereTheRoundingGetsThere) {
  for (Rounding rounding : kAll) {
    const bool sign = rounding == Rounding::kSign;
    for (int m = sign ? 0 : -3; m <= (sign ? 1 : 3); ++m) {
      const RoundingStart start = StartOf(rounding, m);
      for (int i = -32; i <= 32; ++i) {
        const mpq_class x = mpq_class(i, 8);
        const bool past = start.strict ? x > start.from : x >= start.from;
        mpq_class canonical = x;
        canonical.canonicalize();
        EXPECT_EQ(past, RoundTo(rounding, Number(canonical)) >= m)
            << static_cast<int>(rounding) << " " << m << " " << i;
      }
    }
  }
}

TEST(Rounding, Modes) {
  EXPECT_EQ(RoundingMode("round"), Rounding::kHalfEven);
  EXPECT_EQ(RoundingMode("HALF_UP"), Rounding::kHalfFromZero);
  EXPECT_FALSE(RoundingMode("NEAREST"));
}

}  // namespace
}  // namespace fold::check
