#include <gtest/gtest.h>

#include "runtime/exec/test_run.h"

namespace fold::exec {
namespace {

using format::ElementType;
using format::Opcode;
using format::TestArtifact;

TEST(RunWindow, MaxPool) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::S8, {2, 2, 2, 1});
  const int y = a.Output("y", ElementType::S8, {2, 1, 1, 1});
  format::PoolParametersT p;
  p.kernel_height = 2;
  p.kernel_width = 2;
  a.Add(Opcode::MAX_POOL, p, {x}, y);
  EXPECT_EQ(ValuesOf<int8_t>(RunFile(
                a.Finish(), {BytesOf<int8_t>({-1, -7, -3, -9, 5, 4, 99, 3})})),
            (std::vector<int8_t>{-1, 99}));
}

// Windows of one, two and four elements: count_include_pad = 0.
TEST(RunWindow, AveragePoolWithADivisorForEachPlace) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::U8, {1, 2, 2, 1});
  const int y = a.Output("y", ElementType::U8, {1, 3, 3, 1});
  format::PoolParametersT p;
  p.kernel_height = 2;
  p.kernel_width = 2;
  p.pad_top = 1;
  p.pad_left = 1;
  p.input_zero = 10;
  p.row_classes = {0, 1, 0};
  p.column_classes = {0, 1, 0};
  p.column_class_count = 2;
  p.requant = std::make_unique<format::RequantT>();
  p.requant->form = format::RequantForm::REMAINDER;
  p.requant->multipliers = {1, 1, 1, 1};
  p.requant->addends = {0, 0, 0, 0};
  p.requant->divisors = {1, 2, 2, 4};
  p.requant->zero = 10;
  p.requant->hi = 255;
  a.Add(Opcode::AVERAGE_POOL, p, {x}, y);
  EXPECT_EQ(RunFile(a.Finish(), {{20, 21, 30, 31}}),
            // 20, (20+21)/2 = 20.5, 21 / (20+30)/2, 102/4 = 25.5, 26 / …
            (Bytes{20, 20, 21, 25, 26, 26, 30, 30, 31}));
}

TEST(RunWindow, AveragePoolRawSums) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::S8, {1, 4, 2});
  const int y = a.Output("y", ElementType::S32, {1, 1, 2});
  format::PoolParametersT p;
  p.kernel_width = 4;
  p.input_zero = -1;
  p.requant = format::NoRequant();
  a.Add(Opcode::AVERAGE_POOL, p, {x}, y);
  EXPECT_EQ(ValuesOf<int32_t>(RunFile(
                a.Finish(), {BytesOf<int8_t>({1, 10, 2, 20, 3, 30, 4, 40})})),
            (std::vector<int32_t>{14, 104}));
}

TEST(RunWindow, ReduceSum) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::S8, {1, 2, 2, 2});
  const int y = a.Output("y", ElementType::S8, {1, 2});
  format::ReduceParametersT p;
  p.axes = {1, 2};
  p.input_zero = 1;
  p.requant = format::ShiftRequant(2, -128, 127);
  a.Add(Opcode::REDUCE_SUM, p, {x}, y);
  EXPECT_EQ(ValuesOf<int8_t>(RunFile(
                a.Finish(), {BytesOf<int8_t>({1, 10, 2, 20, 3, 30, 4, 40})})),
            (std::vector<int8_t>{1, 24}));
}

TEST(RunWindow, WorkersAgree) {
  std::mt19937 random(1);
  const Bytes input = RandomBytes(2 * 40 * 40 * 33, &random);
  for (const Opcode opcode : {Opcode::MAX_POOL, Opcode::AVERAGE_POOL}) {
    TestArtifact a;
    const int x = a.Input("x", ElementType::U8, {2, 40, 40, 33});
    const int y = a.Output("y", ElementType::U8, {2, 20, 20, 33});
    format::PoolParametersT p;
    p.kernel_height = p.kernel_width = 3;
    p.stride_height = p.stride_width = 2;
    p.pad_top = p.pad_left = 1;
    if (opcode == Opcode::AVERAGE_POOL) {
      p.requant = format::ShiftRequant(3, 0, 255);
    }
    a.Add(opcode, p, {x}, y);
    const format::TestFile file = a.Finish();
    const Bytes one = RunFile(file, {input}, "portable", 1);
    for (const char* level : kLevels) {
      EXPECT_EQ(RunFile(file, {input}, level, 3), one);
    }
  }
}

}  // namespace
}  // namespace fold::exec
