// Problems for the tests of this room, drawn from a seed.
#ifndef FOLD_COMPILER_PLAN_PLAN_CASES_H_
#define FOLD_COMPILER_PLAN_PLAN_CASES_H_

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "compiler/plan/problem.h"

namespace fold {

inline Problem DrawProblem(uint32_t seed, int count, int times, int sizes,
                           bool aligned) {
  std::mt19937 engine(seed);
  const auto below = [&](int limit) {
    return static_cast<int64_t>(engine() % static_cast<uint32_t>(limit));
  };
  Problem problem;
  for (int i = 0; i < count; ++i) {
    Buffer buffer;
    buffer.lower = below(times);
    buffer.upper = buffer.lower + 1 + below(times);
    buffer.size = below(sizes + 1);
    buffer.alignment = aligned ? int64_t{2} << below(3) : 1;
    problem.buffers.push_back(buffer);
  }
  return problem;
}

// At every step buffers of exactly `load` bytes live, so that a plan without a
// gap may not exist, and is hard to find where it does.
inline Problem DrawFullProblem(uint32_t seed, int steps, int64_t load) {
  std::mt19937 engine(seed);
  Problem problem;
  std::vector<size_t> live;
  int64_t free = load;
  for (int step = 0; step < steps; ++step) {
    for (size_t n = 0; n < live.size();) {
      Buffer& buffer = problem.buffers[live[n]];
      if (engine() % 3 != 0) {
        ++buffer.upper;
        ++n;
        continue;
      }
      free += buffer.size;
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(n));
    }
    while (free > 0) {
      const int64_t size = 1 + static_cast<int64_t>(engine()) % free;
      free -= size;
      live.push_back(problem.buffers.size());
      problem.buffers.push_back({"", step, step + 1, size, 1});
    }
  }
  return problem;
}

// Nine buffers of which at most 7 bytes live at one time, and which need 8.
inline Problem GapProblem() {
  Problem problem;
  problem.buffers = {{"", 1, 3, 3}, {"", 0, 2, 3}, {"", 2, 4, 2},
                     {"", 4, 7, 3}, {"", 6, 8, 3}, {"", 1, 2, 1},
                     {"", 5, 8, 1}, {"", 3, 5, 2}, {"", 2, 5, 2}};
  return problem;
}

// The least height of any plan, with sizes rounded up to the smallest
// alignment: tries every order of the buffers, each as low as it can lie. (The
// best plan is among them: take its buffers in the order of their offsets.)
inline int64_t BruteForceHeight(const Problem& problem) {
  std::vector<Buffer> buffers;
  int64_t unit = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.size == 0) continue;
    unit = unit == 0 ? buffer.alignment : std::min(unit, buffer.alignment);
    buffers.push_back(buffer);
  }
  for (Buffer& buffer : buffers) {
    while (buffer.size % unit != 0) ++buffer.size;
  }
  std::vector<int> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = buffers.empty() ? 0 : INT64_MAX;
  do {
    std::vector<int64_t> offsets(buffers.size());
    int64_t height = 0;
    for (size_t n = 0; n < order.size(); ++n) {
      const Buffer& buffer = buffers[order[n]];
      int64_t at = 0;
      for (size_t m = 0; m < n; ++m) {
        const Buffer& other = buffers[order[m]];
        const int64_t low = offsets[order[m]];
        const bool meet = buffer.lower < other.upper &&
                          other.lower < buffer.upper && at < low + other.size &&
                          low < at + buffer.size;
        if (!meet) continue;
        for (at = low + other.size; at % buffer.alignment != 0;) ++at;
        m = static_cast<size_t>(-1);  // look at all of them again
      }
      offsets[order[n]] = at;
      height = std::max(height, at + buffer.size);
    }
    best = std::min(best, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

}  // namespace fold

#endif  // FOLD_COMPILER_PLAN_PLAN_CASES_H_
