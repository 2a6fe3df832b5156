// A chain as an affine function of the accumulator on each of a few ranges.
#ifndef FOLD_COMPILER_EXACT_PIECEWISE_H_
#define FOLD_COMPILER_EXACT_PIECEWISE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/exact/chain.h"
#include "compiler/exact/step_function.h"
#include "compiler/exact/surd.h"

namespace fold::exact {

// value(x) = slope * x + offset for every integer x in [low, high]. The slope
// is zero or a single term, because only products make it.
struct Piece {
  std::int64_t low = 0;
  std::int64_t high = 0;
  Surd slope;
  Surd offset;
};

// The steps on [acc_low, acc_high], as adjacent pieces in ascending order.
// Requires steps without Reciprocal and without division by zero.
std::vector<Piece> ComposePieces(std::int64_t acc_low, std::int64_t acc_high,
                                 std::span<const ChainStep> steps);

// real / scale for the whole problem: the number that is rounded, before the
// zero point.
std::vector<Piece> ScaledPieces(const ChannelProblem& problem);

// IdealSteps(problem), where ScaledPieces(problem) is at hand already.
StepFunction IdealSteps(const std::vector<Piece>& pieces,
                        const ChannelProblem& problem);

// The piece with a slope that has most of the thresholds; null where every
// piece is constant.
const Piece* MainPiece(const std::vector<Piece>& pieces,
                       const StepFunction& ideal);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_PIECEWISE_H_
