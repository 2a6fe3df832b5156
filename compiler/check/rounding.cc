#include "compiler/check/rounding.h"

#include <map>

namespace fold::check {

mpz_class RoundTo(Rounding rounding, const Number& x) {
  mpz_class below = x.Floor(), above = x.Ceil();
  const bool negative = x.Sign() < 0;
  const mpz_class& outer = negative ? below : above;
  const mpz_class& inner = negative ? above : below;
  switch (rounding) {
    case Rounding::kFloor:
      return below;
    case Rounding::kCeil:
      return above;
    case Rounding::kFromZero:
      return outer;
    case Rounding::kToZero:
      return inner;
    case Rounding::kSign:
      return negative ? -1 : 1;
    default:
      break;
  }
  const Number twice = x + x;
  if (x.integer() || !twice.integer()) return x.RoundHalfEven();
  const bool even_below = mpz_even_p(below.get_mpz_t()) != 0;
  switch (rounding) {
    case Rounding::kHalfOdd:
      return even_below ? above : below;
    case Rounding::kHalfFromZero:
      return outer;
    case Rounding::kHalfToZero:
      return inner;
    case Rounding::kHalfUp:
      return above;
    default:
      return even_below ? below : above;
  }
}

RoundingStart StartOf(Rounding rounding, const mpz_class& m) {
  const bool even = mpz_even_p(m.get_mpz_t()) != 0;
  const bool positive = m > 0;
  mpq_class half(2 * m - 1, 2);
  half.canonicalize();
  switch (rounding) {
    case Rounding::kHalfEven:
      return {half, !even};
    case Rounding::kHalfOdd:
      return {half, even};
    case Rounding::kHalfFromZero:
      return {half, !positive};
    case Rounding::kHalfToZero:
      return {half, positive};
    case Rounding::kHalfUp:
      return {half, false};
    case Rounding::kFloor:
      return {mpq_class(m), false};
    case Rounding::kCeil:
      return {mpq_class(m - 1), true};
    case Rounding::kFromZero:
      return positive ? RoundingStart{mpq_class(m - 1), true}
                      : RoundingStart{mpq_class(m), false};
    case Rounding::kToZero:
      return positive ? RoundingStart{mpq_class(m), false}
                      : RoundingStart{mpq_class(m - 1), true};
    case Rounding::kSign:
      return {mpq_class(0), false};
  }
  return {half, !even};
}

std::optional<Rounding> RoundingMode(std::string mode) {
  static const std::map<std::string, Rounding> kModes = {
      {"ROUND", Rounding::kHalfEven},
      {"HALF_EVEN", Rounding::kHalfEven},
      {"FLOOR", Rounding::kFloor},
      {"CEIL", Rounding::kCeil},
      {"UP", Rounding::kFromZero},
      {"DOWN", Rounding::kToZero},
      {"ROUND_TO_ZERO", Rounding::kToZero},
      {"HALF_UP", Rounding::kHalfFromZero},
      {"HALF_DOWN", Rounding::kHalfToZero}};
  for (char& c : mode) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  const auto at = kModes.find(mode);
  if (at == kModes.end()) return std::nullopt;
  return at->second;
}

}  // namespace fold::check
