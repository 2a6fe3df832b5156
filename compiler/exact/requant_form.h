// The integer formulas by which a kernel may turn an accumulator into a code,
// their parameters, their one reference evaluation and their proof.
#ifndef FOLD_COMPILER_EXACT_REQUANT_FORM_H_
#define FOLD_COMPILER_EXACT_REQUANT_FORM_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/exact/chain.h"
#include "compiler/exact/int128.h"
#include "compiler/exact/step_function.h"

namespace fold::exact {

// From cheap to dear. M, C, S, D, Z are the fields of FormParameters; >> is
// the arithmetic shift (floor); rhe rounds to nearest, half to even; every
// clamp is on the 64-bit (128-bit) value.
enum class RequantForm {
  // clamp((acc * M + C) >> S, low, high): |M| < 2^31, C int64, 0 <= S <= 62,
  // the zero point is inside C, no int64 overflow over the range.
  kMultiply64,
  // clamp(rhe((acc * M + C) / 2^S) + Z, low, high): the same limits; also
  // |acc * M + C| <= 2^62.
  kHalfEven64,
  // clamp(rhe((acc * M + C) / D) + Z, low, high): M, C, D int64, D > 0;
  // |acc * M + C| <= 2^62 and D <= 2^62.
  kRemainder,
  // clamp((acc * M + C) >> S, low, high) in 128 bits: |M| < 2^62,
  // 0 <= S <= 126, the zero point inside C, |acc * M + C| <= 2^126.
  kMultiply128,
  // first_code plus or minus the number of thresholds <= acc.
  kThresholds,
};
inline constexpr int kRequantFormCount = 5;

std::string_view Name(RequantForm form);

// Parameters of one channel; which fields count depends on the form.
struct FormParameters {
  std::int64_t multiplier = 0;  // M
  Int128 addend = 0;            // C; fits int64 except in kMultiply128
  int shift = 0;                // S
  std::int64_t divisor = 1;     // D
  std::int64_t zero_point = 0;  // Z
  std::int64_t low = 0;         // clamp, in codes
  std::int64_t high = 0;
  bool increasing = true;  // kThresholds only, with the next two
  std::int64_t first_code = 0;
  std::vector<std::int64_t> thresholds;

  friend bool operator==(const FormParameters&,
                         const FormParameters&) = default;
};

// What a kernel must compute. Requires that the limits of the form hold for
// acc (Verify checks them over a whole range).
std::int64_t Evaluate(RequantForm form, const FormParameters& parameters,
                      std::int64_t acc);

// True if and only if the parameters keep to the limits of the form, nothing
// overflows over the whole range of accumulators, and the form equals the
// ideal code on every accumulator in it. Never trusts the caller: parameters
// may be anything. Requires !FindFault(problem).
bool Verify(const ChannelProblem& problem, RequantForm form,
            const FormParameters& parameters);
bool Verify(const StepFunction& ideal, RequantForm form,
            const FormParameters& parameters);

// True if the value before the clamp fits int32 on the whole range, so that a
// kernel may narrow first. Requires Verify.
bool FitsInt32BeforeClamp(RequantForm form, const FormParameters& parameters,
                          std::int64_t acc_low, std::int64_t acc_high);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_REQUANT_FORM_H_
