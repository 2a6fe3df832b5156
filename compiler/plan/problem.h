// The memory planning problem as plain data: buffers that live for a time and
// must not overlap in memory while they both live.
#ifndef FOLD_COMPILER_PLAN_PROBLEM_H_
#define FOLD_COMPILER_PLAN_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

namespace fold {

struct Buffer {
  std::string id;  // for messages alone
  // Lives in the steps lower <= t < upper; lower < upper.
  int64_t lower = 0, upper = 0;
  int64_t size = 0;       // bytes, not negative
  int64_t alignment = 1;  // of its offset, bytes, a power of two
};

struct Problem {
  std::vector<Buffer> buffers;
  // Bytes that there are; 0 if the height is to be as small as it can be.
  int64_t capacity = 0;
};

struct Solution {
  std::vector<int64_t> offsets;  // bytes, one for each buffer
  int64_t height = 0;            // bytes that the arena needs
};

}  // namespace fold

#endif  // FOLD_COMPILER_PLAN_PROBLEM_H_
