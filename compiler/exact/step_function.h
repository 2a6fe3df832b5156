// The ideal meaning of a chain: a monotone step function of the accumulator.
#ifndef FOLD_COMPILER_EXACT_STEP_FUNCTION_H_
#define FOLD_COMPILER_EXACT_STEP_FUNCTION_H_

#include <cstdint>
#include <vector>

#include "compiler/exact/chain.h"

namespace fold::exact {

// code(acc) for acc_low <= acc <= acc_high is first_code, plus (increasing) or
// minus (otherwise) the number of thresholds <= acc. Thresholds ascend, lie in
// (acc_low, acc_high], and repeat where a step is more than one code high.
struct StepFunction {
  bool increasing = true;
  std::int64_t acc_low = 0;
  std::int64_t acc_high = 0;
  std::int64_t first_code = 0;
  std::vector<std::int64_t> thresholds;
  // Some reachable accumulator lies exactly where the rounding steps between
  // two codes that both survive the clamps, so that the rule for ties decides.
  bool tie_reachable = false;

  std::int64_t Code(std::int64_t acc) const;
  std::int64_t LastCode() const;  // code(acc_high)
};

// Exact: thresholds are solved in closed form with 64 fraction bits and a
// proved error, and by exact arithmetic where those do not decide.
// Requires !FindFault(problem).
StepFunction IdealSteps(const ChannelProblem& problem);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_STEP_FUNCTION_H_
