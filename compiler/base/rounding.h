// The ways to turn a quotient into a whole number. QuantizeLinear knows one;
// QONNX's Quant, BipolarQuant and Trunc and written-out fake-quantizations use
// the others.
#ifndef FOLD_COMPILER_BASE_ROUNDING_H_
#define FOLD_COMPILER_BASE_ROUNDING_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace fold {

// Of the quotient x / scale, before the zero point is added. "From zero" is
// away from zero, "to zero" towards it.
enum class Rounding : uint8_t {
  kHalfEven,      // nearest, ties to the even quotient: QuantizeLinear
  kHalfOdd,       // nearest, ties to the odd quotient: ties to the even code
                  // where the zero point is odd and added before the rounding
  kHalfFromZero,  // nearest, ties away from zero
  kHalfToZero,    // nearest, ties towards zero
  kHalfUp,        // nearest, ties upwards: floor(q + 1/2)
  kFloor,
  kCeil,
  kFromZero,
  kToZero,
  kSign,          // 1 for a quotient of at least 0, else -1
  kHalfEvenCode,  // nearest, ties to the even code, where zero points of one
                  // tensor are even and odd: RoundingFor says which of the
                  // first two it is
};

// `rounding` for a channel with this zero point.
inline Rounding RoundingFor(Rounding rounding, int64_t zero_point) {
  if (rounding != Rounding::kHalfEvenCode) return rounding;
  return zero_point % 2 == 0 ? Rounding::kHalfEven : Rounding::kHalfOdd;
}

// "half_even", "floor", …: the names of the text form.
std::string_view RoundingName(Rounding rounding);
std::optional<Rounding> ParseRounding(std::string_view name);

// Where the rounding steps from k - 1 to k: at the quotient twice / 2, which
// becomes k if `takes`, else k - 1. Every rounding is this step function.
struct RoundingStep {
  int64_t twice;
  bool takes;
};
// Not for kHalfEvenCode. For kSign, -1 < k <= 1; its codes have to be limited
// to [-1, 1].
RoundingStep StepTo(Rounding rounding, int64_t k);

}  // namespace fold

#endif  // FOLD_COMPILER_BASE_ROUNDING_H_
