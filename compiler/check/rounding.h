// The roundings that QuantizeLinear, QONNX's operators and QUANTIZE ops know,
// on exact numbers. The checker's own: shares nothing with the search.
#ifndef COMPILER_CHECK_ROUNDING_H_
#define COMPILER_CHECK_ROUNDING_H_

#include <optional>
#include <string>

#include "compiler/check/number.h"

namespace fold::check {

// In the order of Rounding in runtime/format/fold.fbs.
enum class Rounding {
  kHalfEven,
  kHalfOdd,
  kHalfFromZero,
  kHalfToZero,
  kHalfUp,
  kFloor,
  kCeil,
  kFromZero,
  kToZero,
  kSign,  // 1 for x >= 0, else -1
};

// Requires a decidable x.
mpz_class RoundTo(Rounding rounding, const Number& x);

// The least x that is rounded to m or more; `strict` if that one is not.
// For kSign, m is 0 or 1.
struct RoundingStart {
  mpq_class from;
  bool strict = false;
};
RoundingStart StartOf(Rounding rounding, const mpz_class& m);

// A QONNX rounding_mode, in any case of letters; nullopt for others.
std::optional<Rounding> RoundingMode(std::string mode);

}  // namespace fold::check

#endif  // COMPILER_CHECK_ROUNDING_H_
