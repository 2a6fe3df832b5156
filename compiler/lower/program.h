// A lowered network: the artifact's own tables (runtime/format/fold.fbs), and
// what the planner needs to know beside them.
#ifndef FOLD_COMPILER_LOWER_PROGRAM_H_
#define FOLD_COMPILER_LOWER_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/format/fold_generated.h"

namespace fold {

namespace format_ = fold::format;

struct Program {
  // Tensors, ops in order, signature, taps and constants. Offsets of arena
  // tensors and of scratch, and the plan, are filled in by PlanArena.
  format_::ArtifactT artifact;
  // For each tensor: the tensor whose bytes it shares under another shape, or
  // -1 for one with bytes of its own.
  std::vector<int> alias_of;
  // Seconds spent searching and proving requantizations.
  double prover_seconds = 0;
};

}  // namespace fold

#endif  // FOLD_COMPILER_LOWER_PROGRAM_H_
