// From a fused graph to the artifact's tensors and kernels: chooses the kernel,
// the layout and the requantization of each op, packs constants, and checks
// that the target has each kernel. Establishes stage `legal`; the arena is
// planned by plan_arena.h and the bytes are made by compiler/emit.
#ifndef FOLD_COMPILER_LOWER_LOWER_H_
#define FOLD_COMPILER_LOWER_LOWER_H_

#include <set>
#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/lower/program.h"
#include "compiler/target/target.h"

namespace fold {

struct LowerOptions {
  bool quantized_io = false;
  bool taps = false;
  // Names that the model itself has: what a tap may be called.
  std::set<std::string> tap_names;
};

// Errors: not_on_target, unsupported_operator, accumulator_overflow, each with
// the node; notes for float islands. Returns false if there was an error.
bool Lower(const Graph& graph, const TargetDescriptor& target,
           const LowerOptions& options, Program* program, Diagnostics* sink);

}  // namespace fold

#endif  // FOLD_COMPILER_LOWER_LOWER_H_
