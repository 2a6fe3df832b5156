#include "compiler/base/rounding.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fold {
namespace {

// The whole number that the steps make of `twice / 2` (or of something just
// above or below it), counted up from -20.
int64_t Rounded(Rounding rounding, int64_t twice, int nudge) {
  int64_t k = rounding == Rounding::kSign ? -1 : -20;
  const int64_t last = rounding == Rounding::kSign ? 1 : 20;
  while (k < last) {
    const RoundingStep step = StepTo(rounding, k + 1);
    const bool past =
        twice > step.twice ||
        (twice == step.twice && (nudge > 0 || (nudge == 0 && step.takes)));
    if (!past) break;
    ++k;
  }
  return k;
}

double Meaning(Rounding rounding, double q) {
  switch (rounding) {
    case Rounding::kHalfEven:
      return std::nearbyint(q);
    case Rounding::kHalfOdd:
      return std::nearbyint(q + 1) - 1;
    case Rounding::kHalfFromZero:
      return std::round(q);
    case Rounding::kHalfToZero:
      return std::copysign(std::ceil(std::abs(q) - 0.5), q);
    case Rounding::kHalfUp:
      return std::floor(q + 0.5);
    case Rounding::kFloor:
      return std::floor(q);
    case Rounding::kCeil:
      return std::ceil(q);
    case Rounding::kFromZero:
      return std::copysign(std::ceil(std::abs(q)), q);
    case Rounding::kToZero:
      return std::trunc(q);
    case Rounding::kSign:
      return q >= 0 ? 1 : -1;
    case Rounding::kHalfEvenCode:
      break;
  }
  return 0;
}

TEST(Rounding, StepsGiveTheMeaning) {
  for (int r = 0; r <= static_cast<int>(Rounding::kSign); ++r) {
    const auto rounding = static_cast<Rounding>(r);
    for (int64_t twice = -21; twice <= 21; ++twice) {
      for (int nudge : {-1, 0, 1}) {
        const double q = static_cast<double>(twice) / 2 + nudge * 0.125;
        EXPECT_EQ(static_cast<double>(Rounded(rounding, twice, nudge)),
                  Meaning(rounding, q))
            << RoundingName(rounding) << " of " << q;
      }
    }
  }
}

TEST(Rounding, NamesReadBack) {
  for (int r = 0; r <= static_cast<int>(Rounding::kSign); ++r) {
    const auto rounding = static_cast<Rounding>(r);
    EXPECT_EQ(ParseRounding(RoundingName(rounding)), rounding);
  }
  EXPECT_FALSE(ParseRounding("half"));
}

}  // namespace
}  // namespace fold
