// A problem made ready for the planner's algorithms: times become sections,
// sizes become multiples of one unit.
#ifndef FOLD_COMPILER_PLAN_PACKING_H_
#define FOLD_COMPILER_PLAN_PACKING_H_

#include <cstdint>
#include <vector>

#include "compiler/plan/problem.h"

namespace fold {

// A buffer of a Packing.
struct Block {
  int first = 0, last = 0;  // sections that it lives in, both included
  int64_t size = 0;         // bytes, rounded up to the unit
  int64_t alignment = 1;
};

// Sections are the maximal sets of buffers that live at one time, in the order
// of time: two buffers overlap in time exactly if they share a section, and a
// buffer's sections are consecutive. Buffers of size 0 are in no section
// (first > last) and may lie anywhere.
struct Packing {
  std::vector<Block> blocks;               // one for each buffer
  std::vector<std::vector<int>> sections;  // the blocks of each
  std::vector<std::vector<int>> overlaps;  // of each block, ascending
  // The smallest alignment: all sizes and alignments are multiples.
  int64_t unit = 1;
  // All offsets that a gap-free plan can use are multiples of this.
  int64_t granule = 1;
  // No plan is lower: the largest sum of sizes in one section.
  int64_t lower_bound = 0;
};

Packing MakePacking(const Problem& problem);

inline int64_t AlignUp(int64_t value, int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// The height of a plan with these offsets.
int64_t HeightOf(const Packing& packing, const std::vector<int64_t>& offsets);

}  // namespace fold

#endif  // FOLD_COMPILER_PLAN_PACKING_H_
