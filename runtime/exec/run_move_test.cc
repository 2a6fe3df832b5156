#include <gtest/gtest.h>

#include <numeric>

#include "runtime/exec/test_run.h"

namespace fold::exec {
namespace {

using format::ElementType;
using format::Opcode;
using format::TestArtifact;

std::vector<int32_t> Counting(int size) {
  std::vector<int32_t> values(size);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

template <typename Parameters>
std::vector<int32_t> RunOne(Opcode opcode, const Parameters& p,
                            const format::Dims& from, const format::Dims& to,
                            int size) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::S32, from);
  const int y = a.Output("y", ElementType::S32, to);
  a.Add(opcode, p, {x}, y);
  return ValuesOf<int32_t>(RunFile(a.Finish(), {BytesOf(Counting(size))}));
}

TEST(RunMove, Transpose) {
  format::TransposeParametersT p;
  p.permutation = {2, 0, 1};
  EXPECT_EQ(RunOne(Opcode::TRANSPOSE, p, {2, 3, 2}, {2, 2, 3}, 12),
            (std::vector<int32_t>{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
}

TEST(RunMove, CopyReshapes) {
  EXPECT_EQ(RunOne(Opcode::COPY, format::NoParametersT(), {2, 3}, {6}, 6),
            Counting(6));
}

TEST(RunMove, ConcatAlongAMiddleAxis) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::U8, {2, 1, 2});
  const int z = a.Input("z", ElementType::U8, {2, 2, 2});
  const int y = a.Output("y", ElementType::U8, {2, 4, 2});
  format::ConcatParametersT p;
  p.axis = 1;
  a.Add(Opcode::CONCAT, p, {x, z, x}, y);
  EXPECT_EQ(
      RunFile(a.Finish(), {{1, 2, 3, 4}, {10, 11, 12, 13, 14, 15, 16, 17}}),
      (Bytes{1, 2, 10, 11, 12, 13, 1, 2, 3, 4, 14, 15, 16, 17, 3, 4}));
}

TEST(RunMove, PadAndCrop) {
  format::PadParametersT p;
  p.before = {1, -1};
  p.value = -9;
  EXPECT_EQ(RunOne(Opcode::PAD, p, {2, 3}, {4, 3}, 6),
            (std::vector<int32_t>{-9, -9, -9, 1, 2, -9, 4, 5, -9, -9, -9, -9}));
  p.before = {5, 0};
  EXPECT_EQ(RunOne(Opcode::PAD, p, {2, 1}, {3, 1}, 2),
            (std::vector<int32_t>{-9, -9, -9}));
}

TEST(RunMove, SliceForwardsAndBackwards) {
  format::SliceParametersT p;
  p.starts = {1, 3};
  p.steps = {1, -2};
  EXPECT_EQ(RunOne(Opcode::SLICE, p, {3, 4}, {2, 2}, 12),
            (std::vector<int32_t>{7, 5, 11, 9}));
  p.starts = {2, 0};
  p.steps = {INT32_MAX, 3};
  EXPECT_EQ(RunOne(Opcode::SLICE, p, {3, 4}, {1, 2}, 12),
            (std::vector<int32_t>{8, 11}));
}

}  // namespace
}  // namespace fold::exec
