// The ideal meaning of a two-input problem, one step function of b for each
// code of a.
#ifndef FOLD_COMPILER_EXACT_TWO_INPUT_ROWS_H_
#define FOLD_COMPILER_EXACT_TWO_INPUT_ROWS_H_

#include <cstdint>
#include <vector>

#include "compiler/exact/int128.h"
#include "compiler/exact/piecewise.h"
#include "compiler/exact/step_function.h"
#include "compiler/exact/two_input.h"

namespace fold::exact {

// Up to this many pairs are enumerated.
inline constexpr std::int64_t kPairLimit = std::int64_t{1} << 17;

inline std::int64_t CodeCount(const InputCodes& codes) {
  return codes.code_high - codes.code_low + 1;
}

struct TwoInputRows {
  std::vector<StepFunction> rows;  // of a.code_low, a.code_low + 1, …
  // A piece with a slope of the row with the most thresholds, in units of the
  // output's scale for each code of b; absent where all rows are constant
  // pieces.
  bool has_slope = false;
  Surd slope_b;
};

// Requires at most kPairLimit pairs and !FindFault(problem).
TwoInputRows IdealRows(const TwoInputProblem& problem);

// a * multiplier_a + b * multiplier_b + addend.
inline Int128 Sum(const TwoInputPlan& plan, std::int64_t a, std::int64_t b) {
  return Int128{a} * plan.multiplier_a + Int128{b} * plan.multiplier_b +
         plan.addend;
}

// Verify against rows that are at hand.
bool Verify(const TwoInputProblem& problem, const TwoInputRows& ideal,
            const TwoInputPlan& plan);

// The limits of the plan's form over all pairs of codes.
bool KeepsLimits(const TwoInputProblem& problem, const TwoInputPlan& plan);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_TWO_INPUT_ROWS_H_
