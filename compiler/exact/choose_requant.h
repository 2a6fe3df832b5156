// Chooses the cheapest requantization form that is proved exact for every
// channel of an op. Deterministic: counts candidates, never time.
#ifndef FOLD_COMPILER_EXACT_CHOOSE_REQUANT_H_
#define FOLD_COMPILER_EXACT_CHOOSE_REQUANT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/exact/chain.h"
#include "compiler/exact/requant_form.h"

namespace fold::exact {

// A set of allowed forms: the sum of FormBit of each.
using FormSet = std::uint32_t;
constexpr FormSet FormBit(RequantForm form) {
  return FormSet{1} << static_cast<int>(form);
}
inline constexpr FormSet kAllForms = (FormSet{1} << kRequantFormCount) - 1;

struct ChannelStatistics {
  int candidates_tried = 0;    // (M, S) pairs and constructions, all forms
  std::size_t thresholds = 0;  // steps over the reachable range
  bool tie_reachable = false;  // the half-to-even rule decides somewhere
  RequantForm cheapest = RequantForm::kMultiply64;  // for this channel alone
  bool reused = false;  // equal to an earlier channel; not solved again
};

struct RequantPlan {
  RequantForm form = RequantForm::kMultiply64;
  std::vector<FormParameters> channels;  // one for each problem, proved
  // Clamp and zero point are the same in all channels (then they are these);
  // otherwise each channel has its own (a Clip before a per-channel scale).
  bool common_clamp = true;
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool common_zero_point = true;
  std::int64_t zero_point = 0;  // used by kHalfEven64 and kRemainder alone
  // Every channel's value before the clamp fits int32 over its range.
  bool fits_int32_before_clamp = false;
};

struct RequantResult {
  std::optional<RequantPlan> plan;  // empty: see refusal
  std::string refusal;              // names the channel and the reason
  std::vector<ChannelStatistics> statistics;  // one for each problem solved
};

// kThresholds solves every problem, so with it allowed a plan is missing only
// where FindFault has something to say. An empty span gives an empty plan.
RequantResult ChooseRequant(std::span<const ChannelProblem> problems,
                            FormSet allowed = kAllForms);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_CHOOSE_REQUANT_H_
