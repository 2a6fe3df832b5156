// Elementwise sums and differences of two quantized inputs:
//   real = (a - za) * sa ± (b - zb) * sb, then steps, then a Quantization.
// (A product is a ChannelProblem in acc = (a - za) * (b - zb).)
#ifndef FOLD_COMPILER_EXACT_TWO_INPUT_H_
#define FOLD_COMPILER_EXACT_TWO_INPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/exact/chain.h"

namespace fold::exact {

struct InputCodes {
  std::int64_t code_low = -128;
  std::int64_t code_high = 127;
  std::int64_t zero_point = 0;
  Rational scale = 1;  // any rational, also negative
};

struct TwoInputProblem {
  InputCodes a, b;
  bool subtract = false;  // real = a - b
  std::vector<ChainStep> steps;
  Quantization quantization;
};

// From cheap to dear; the zero points of the inputs are inside C.
enum class TwoInputForm {
  kMultiply64,  // clamp((a * Ma + b * Mb + C) >> S, low, high); |M| < 2^31
  kHalfEven64,  // clamp(rhe((a * Ma + b * Mb + C) / 2^S) + Z, low, high); same
  kRemainder,   // clamp(rhe((a * Ma + b * Mb + C) / D) + Z, low, high)
  kTable,       // table[(a - a.code_low) * (b's code count) + b - b.code_low]
};
inline constexpr int kTwoInputFormCount = 4;

std::string_view Name(TwoInputForm form);

// Limits: |a * Ma| + |b * Mb| + |C| fits int64 over all codes (2^62 in the
// second and third form), 0 <= S <= 62, 0 < D <= 2^62; |Ma|, |Mb| < 2^31 in the
// first two forms, < 2^62 in the third.
struct TwoInputPlan {
  TwoInputForm form = TwoInputForm::kTable;
  std::int64_t multiplier_a = 0;
  std::int64_t multiplier_b = 0;
  std::int64_t addend = 0;
  int shift = 0;
  std::int64_t divisor = 1;
  std::int64_t zero_point = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::vector<std::int32_t> table;
  int candidates_tried = 0;
  bool tie_reachable = false;
};

struct TwoInputResult {
  std::optional<TwoInputPlan> plan;
  std::string refusal;
};

// Bits 1 << form. All pairs are searched and proved up to 2^17 pairs. Beyond
// (16-bit codes) only forms that are exact by construction are offered: the
// second and the third, where their constants fit; otherwise a refusal.
using TwoInputFormSet = std::uint32_t;
inline constexpr TwoInputFormSet kAllTwoInputForms =
    (TwoInputFormSet{1} << kTwoInputFormCount) - 1;

TwoInputResult ChooseTwoInput(const TwoInputProblem& problem,
                              TwoInputFormSet allowed = kAllTwoInputForms);

// What a kernel must compute.
std::int64_t Evaluate(const TwoInputProblem& problem, const TwoInputPlan& plan,
                      std::int64_t a, std::int64_t b);

// Checks a plan on every pair of codes, and its limits. Requires at most 2^17
// pairs (false otherwise).
bool Verify(const TwoInputProblem& problem, const TwoInputPlan& plan);

std::optional<std::string> FindFault(const TwoInputProblem& problem);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_TWO_INPUT_H_
