// Problems as text: a line `id,lower,upper,size` first, then one for each
// buffer; further columns may be `alignment`, columns may stand in any order.
// The format of the published MiniMalloc instances.
#ifndef FOLD_COMPILER_PLAN_PROBLEM_CSV_H_
#define FOLD_COMPILER_PLAN_PROBLEM_CSV_H_

#include <string>
#include <string_view>

#include "compiler/plan/problem.h"

namespace fold {

// "" and the buffers, or what is wrong and in which line.
std::string ReadProblemCsv(std::string_view text, Problem* problem);

}  // namespace fold

#endif  // FOLD_COMPILER_PLAN_PROBLEM_CSV_H_
