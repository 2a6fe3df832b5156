// Places the tensors and working memory of a program in one arena: the adapter
// from kernels to compiler/plan.
#ifndef FOLD_COMPILER_LOWER_PLAN_ARENA_H_
#define FOLD_COMPILER_LOWER_PLAN_ARENA_H_

#include "compiler/ir/graph.h"
#include "compiler/lower/program.h"

namespace fold {

// Puts the ops into an order in which few bytes live at one time; the order
// that they have stays where no better one is found.
void OrderOps(Program* program);

// Fills in the offsets of arena tensors and scratch, and the plan. Stage
// `planned` holds after it. `alignment` in bytes.
void PlanArena(Program* program, int64_t alignment);

// Bytes of an arena for the graph as it stands, each value that is computed
// stored in its own type: what the model would take unfolded.
int64_t ArenaBytesOf(const Graph& graph, int64_t alignment);

}  // namespace fold

#endif  // FOLD_COMPILER_LOWER_PLAN_ARENA_H_
