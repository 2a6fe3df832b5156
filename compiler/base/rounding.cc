#include "compiler/base/rounding.h"

namespace fold {
namespace {

constexpr std::string_view kNames[] = {
    "half_even", "half_odd", "half_from_zero", "half_to_zero",
    "half_up",   "floor",    "ceil",           "from_zero",
    "to_zero",   "sign",     "half_even_code"};

}  // namespace

std::string_view RoundingName(Rounding rounding) {
  return kNames[static_cast<int>(rounding)];
}

std::optional<Rounding> ParseRounding(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<Rounding>(i);
  }
  return std::nullopt;
}

RoundingStep StepTo(Rounding rounding, int64_t k) {
  const bool above = k >= 1;  // the step lies at a quotient of 0 or more
  switch (rounding) {
    case Rounding::kHalfEven:
      return {2 * k - 1, k % 2 == 0};
    case Rounding::kHalfEvenCode:
      break;
    case Rounding::kHalfOdd:
      return {2 * k - 1, k % 2 != 0};
    case Rounding::kHalfFromZero:
      return {2 * k - 1, above};
    case Rounding::kHalfToZero:
      return {2 * k - 1, !above};
    case Rounding::kHalfUp:
      return {2 * k - 1, true};
    case Rounding::kFloor:
      return {2 * k, true};
    case Rounding::kCeil:
      return {2 * k - 2, false};
    case Rounding::kFromZero:
      return above ? RoundingStep{2 * k - 2, false} : RoundingStep{2 * k, true};
    case Rounding::kToZero:
      return above ? RoundingStep{2 * k, true} : RoundingStep{2 * k - 2, false};
    case Rounding::kSign:
      return {0, true};
  }
  return {2 * k - 1, k % 2 == 0};
}

}  // namespace fold
