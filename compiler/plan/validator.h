// Checks plans from the problem alone, knowing nothing of how they were made.
#ifndef FOLD_COMPILER_PLAN_VALIDATOR_H_
#define FOLD_COMPILER_PLAN_VALIDATOR_H_

#include <string>

#include "compiler/plan/problem.h"

namespace fold {

// "" if the problem makes sense: lifespans are not empty, sizes not negative,
// alignments powers of two, and all sizes together fit 2^60 bytes.
std::string ProblemFault(const Problem& problem);

// "" if no two buffers overlap in time and memory, offsets are aligned and not
// negative, and everything lies below the height; else the buffers at fault.
std::string SolutionFault(const Problem& problem, const Solution& solution);

}  // namespace fold

#endif  // FOLD_COMPILER_PLAN_VALIDATOR_H_
