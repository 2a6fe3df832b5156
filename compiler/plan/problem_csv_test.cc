#include "compiler/plan/problem_csv.h"

#include <gtest/gtest.h>

namespace fold {
namespace {

std::string Fault(const char* text) {
  Problem problem;
  return ReadProblemCsv(text, &problem);
}

TEST(ProblemCsv, ReadsBuffers) {
  Problem problem;
  ASSERT_EQ(ReadProblemCsv("id,size,lower,upper,alignment\r\n"
                           "b1,4,0,3,1\n\nb2,5,3,9,64",
                           &problem),
            "");
  ASSERT_EQ(problem.buffers.size(), 2u);
  EXPECT_EQ(problem.buffers[0].id, "b1");
  EXPECT_EQ(problem.buffers[0].upper, 3);
  EXPECT_EQ(problem.buffers[1].size, 5);
  EXPECT_EQ(problem.buffers[1].lower, 3);
  EXPECT_EQ(problem.buffers[1].alignment, 64);
}

TEST(ProblemCsv, WrongTextsAreFaults) {
  EXPECT_EQ(Fault(""), "there is no header");
  EXPECT_EQ(Fault("id,lower,upper\n"), "line 1: no column size");
  EXPECT_EQ(Fault("id,lower,upper,size,x\n"), "line 1: no column is named x");
  EXPECT_EQ(Fault("id,id,lower,upper,size\n"), "line 1: a column stands twice");
  EXPECT_EQ(Fault("id,lower,upper,size\na,1,2\n"),
            "line 2: another number of cells");
  EXPECT_EQ(Fault("id,lower,upper,size\na,1,2,3x\n"),
            "line 2: size is no number");
  EXPECT_EQ(Fault("id,lower,upper,size\na,1,2,99999999999999999999\n"),
            "line 2: size is no number");
}

}  // namespace
}  // namespace fold
