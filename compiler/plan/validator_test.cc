#include "compiler/plan/validator.h"

#include <gtest/gtest.h>

namespace fold {
namespace {

// Two that meet in time, and one behind the first.
Problem Three() {
  Problem problem;
  problem.buffers = {{"a", 0, 2, 4, 1}, {"b", 1, 3, 4, 4}, {"c", 2, 3, 4, 1}};
  return problem;
}

TEST(Validator, AcceptsAPlan) {
  EXPECT_EQ(ProblemFault(Three()), "");
  EXPECT_EQ(SolutionFault(Three(), {{0, 4, 0}, 8}), "");
  EXPECT_EQ(SolutionFault({}, {{}, 0}), "");
}

TEST(Validator, FindsEveryFaultOfAPlan) {
  const Problem problem = Three();
  EXPECT_EQ(SolutionFault(problem, {{0, 4}, 8}),
            "the plan has another number of buffers");
  EXPECT_EQ(SolutionFault(problem, {{1, 4, 0}, 8}),
            "buffer 'a' and buffer 'b' overlap");
  EXPECT_EQ(SolutionFault(problem, {{0, 4, 7}, 11}),
            "buffer 'b' and buffer 'c' overlap");
  EXPECT_EQ(SolutionFault(problem, {{-1, 4, 0}, 8}), "buffer 'a' lies below 0");
  EXPECT_EQ(SolutionFault(problem, {{0, 5, 0}, 9}),
            "buffer 'b' is not aligned");
  EXPECT_EQ(SolutionFault(problem, {{0, 4, 0}, 7}),
            "buffer 'b' lies above the height");
}

TEST(Validator, BuffersOfNoSizeOverlapNothing) {
  Problem problem = Three();
  problem.buffers[1].size = 0;
  EXPECT_EQ(SolutionFault(problem, {{0, 0, 0}, 4}), "");
}

TEST(Validator, FindsFaultsOfProblems) {
  const auto fault = [](const Buffer& buffer) {
    Problem problem;
    problem.buffers = {buffer};
    return ProblemFault(problem);
  };
  EXPECT_EQ(fault({"x", 2, 2, 1, 1}), "buffer 'x' never lives");
  EXPECT_EQ(fault({"", 0, 1, -1, 1}), "buffer '0': the size is negative");
  EXPECT_EQ(fault({"x", 0, 1, 1, 3}),
            "buffer 'x': the alignment is no power of two");
  EXPECT_EQ(fault({"x", 0, 1, 1, 0}),
            "buffer 'x': the alignment is no power of two");
  EXPECT_EQ(fault({"x", 0, 1, int64_t{1} << 60, 1}),
            "the buffers are too large together");
  EXPECT_EQ(fault({"x", 0, 1, INT64_MAX, 1}),
            "the buffers are too large together");
  Problem problem;
  problem.capacity = -1;
  EXPECT_EQ(ProblemFault(problem), "the capacity is negative");
}

}  // namespace
}  // namespace fold
