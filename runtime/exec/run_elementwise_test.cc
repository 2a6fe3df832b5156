#include <gtest/gtest.h>

#include "runtime/exec/test_run.h"

namespace fold::exec {
namespace {

using format::ElementType;
using format::Opcode;
using format::TestArtifact;

TEST(RunElementwise, QuantizePermutesAndTakesEachChannelsScale) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::F32, {1, 2, 3});
  const int y = a.Output("y", ElementType::S8, {1, 1, 3, 2});
  format::QuantizeParametersT p;
  p.scales = {1.0, 10.0};
  p.zero_points = {1, -1};
  p.axis = 1;
  p.permutation = {0, 2, 1};
  p.lo = -128;
  p.hi = 127;
  a.Add(Opcode::QUANTIZE, p, {x}, y);
  const std::vector<float> input = {0.5f, 1.5f, 500.0f, 25.0f, -35.0f, 5.0f};
  EXPECT_EQ(ValuesOf<int8_t>(RunFile(a.Finish(), {BytesOf(input)})),
            (std::vector<int8_t>{1, 1, 3, -5, 127, -1}));
}

TEST(RunElementwise, DequantizeTurnsBack) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::S32, {1, 3, 2});
  const int y = a.Output("y", ElementType::F64, {1, 2, 3});
  format::DequantizeParametersT p;
  p.scales = {0.5, 2.0};
  p.zero_points = {1, 0};
  p.offsets = {0.25, -1.0};
  p.axis = 1;
  p.permutation = {0, 2, 1};
  a.Add(Opcode::DEQUANTIZE, p, {x}, y);
  const std::vector<int32_t> input = {1, 10, 2, 20, 3, 30};
  EXPECT_EQ(ValuesOf<double>(RunFile(a.Finish(), {BytesOf(input)})),
            (std::vector<double>{0.25, 0.75, 1.25, 19, 39, 59}));
}

TEST(RunElementwise, RequantizeAlongAnAxis) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::S32, {2, 3});
  const int y = a.Output("y", ElementType::U8, {2, 3});
  format::RequantizeParametersT p;
  p.input_zero = 5;
  p.axis = 1;
  p.requant = format::ShiftRequant(1, 0, 255);
  p.requant->multipliers = {1, 2, 4};
  p.requant->addends = {0, 1, 2};
  p.requant->shifts = {0, 1, 2};
  a.Add(Opcode::REQUANTIZE, p, {x}, y);
  const std::vector<int32_t> input = {5, 5, 5, 15, 17, 1000};
  EXPECT_EQ(ValuesOf<uint8_t>(RunFile(a.Finish(), {BytesOf(input)})),
            (std::vector<uint8_t>{0, 0, 0, 10, 12, 255}));
}

TEST(RunElementwise, AddBroadcastsBothOperands) {
  TestArtifact a;
  const int x = a.Input("a", ElementType::S8, {2, 1, 2});
  const int z = a.Input("b", ElementType::U8, {3, 1});
  const int y = a.Output("y", ElementType::S16, {2, 3, 2});
  format::Add2ParametersT p;
  p.a_multiplier = 2;
  p.b_multiplier = -1;
  p.addend = 3;
  p.lo = -1000;
  p.hi = 200;
  a.Add(Opcode::ADD2, p, {x, z}, y);
  const std::vector<int8_t> first = {10, -10, 100, 0};
  const std::vector<uint8_t> second = {0, 1, 255};
  EXPECT_EQ(
      ValuesOf<int16_t>(RunFile(a.Finish(), {BytesOf(first), BytesOf(second)})),
      (std::vector<int16_t>{23, -17, 22, -18, -232, -272, 200, 3, 200, 2, -52,
                            -252}));
}

TEST(RunElementwise, MulInPlace) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::S8, {4});
  const int t = a.Arena(ElementType::S8, {4});
  const int y = a.Output("y", ElementType::S8, {4});
  a.Add(Opcode::COPY, format::NoParametersT(), {x}, t);
  format::Mul2ParametersT p;
  p.a_zero = 1;
  p.b_zero = -1;
  p.requant = format::ShiftRequant(2, -128, 127);
  const int in_place = a.Arena(ElementType::S8, {4});
  a.artifact.tensors[in_place]->offset = a.artifact.tensors[t]->offset;
  a.Add(Opcode::MUL2, p, {t, t}, in_place);
  a.Add(Opcode::COPY, format::NoParametersT(), {in_place}, y);
  const std::vector<int8_t> input = {3, -3, 10, 0};
  EXPECT_EQ(ValuesOf<int8_t>(RunFile(a.Finish(), {BytesOf(input)})),
            (std::vector<int8_t>{2, 2, 24, -1}));
}

TEST(RunElementwise, TablesPerChannelAndOfTwo) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::S8, {2, 2});
  std::vector<uint16_t> table(512);
  for (int i = 0; i < 512; ++i) table[i] = static_cast<uint16_t>(i * 3);
  const int t = a.Constant(ElementType::U16, {2, 256}, table);
  const int y = a.Output("y", ElementType::U16, {2, 2});
  format::TableParametersT p;
  p.axis = 1;
  a.Add(Opcode::TABLE_1, p, {x, t}, y);
  const std::vector<int8_t> input = {-128, -128, 0, 127};
  EXPECT_EQ(ValuesOf<uint16_t>(RunFile(a.Finish(), {BytesOf(input)})),
            (std::vector<uint16_t>{0, 768, 384, 1533}));

  TestArtifact b;
  const int first = b.Input("a", ElementType::U8, {2, 1});
  const int second = b.Input("b", ElementType::S8, {2});
  std::vector<uint8_t> pairs(65536);
  for (int i = 0; i < 65536; ++i) {
    pairs[i] = static_cast<uint8_t>((i >> 8) + 3 * (i & 255));
  }
  const int u = b.Constant(ElementType::U8, {65536}, pairs);
  const int z = b.Output("y", ElementType::U8, {2, 2});
  b.Add(Opcode::TABLE_2, format::TableParametersT(), {first, second, u}, z);
  EXPECT_EQ(RunFile(b.Finish(), {{1, 200}, BytesOf<int8_t>({-128, 0})}),
            (Bytes{1, 129, 200, 72}));
}

TEST(RunElementwise, Clamp) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::S16, {3});
  const int y = a.Output("y", ElementType::S16, {3});
  format::ClampParametersT p;
  p.lo = -5;
  p.hi = 7;
  a.Add(Opcode::CLAMP, p, {x}, y);
  EXPECT_EQ(ValuesOf<int16_t>(
                RunFile(a.Finish(), {BytesOf<int16_t>({-600, 3, 300})})),
            (std::vector<int16_t>{-5, 3, 7}));
}

// Enough elements for the work to be shared out.
TEST(RunElementwise, WorkersAgree) {
  TestArtifact a;
  constexpr int64_t kSize = 100003;
  const int x = a.Input("x", ElementType::U8, {kSize});
  const int y = a.Output("y", ElementType::U8, {kSize});
  format::Add2ParametersT p;
  p.form = format::PairForm::HALF_EVEN64;
  p.a_multiplier = 3;
  p.b_multiplier = 4;
  p.shift = 3;
  p.zero = 1;
  p.hi = 255;
  a.Add(Opcode::ADD2, p, {x, x}, y);
  const format::TestFile file = a.Finish();
  std::mt19937 random(1);
  const Bytes input = RandomBytes(kSize, &random);
  const Bytes one = RunFile(file, {input});
  EXPECT_EQ(RunFile(file, {input}, "portable", 4), one);
  EXPECT_EQ(one[0], (7 * input[0] % 8 > 4 ||
                     (7 * input[0] % 8 == 4 && 7 * input[0] / 8 % 2 != 0))
                        ? 7 * input[0] / 8 + 2
                        : 7 * input[0] / 8 + 1);
}

TEST(RunElementwise, ReciprocalPerChannel) {
  TestArtifact a;
  const int x = a.Input("x", ElementType::S8, {3, 2});
  const int y = a.Output("y", ElementType::U8, {3, 2});
  format::ReciprocalParametersT p;
  p.input_zero = 1;
  p.axis = 1;
  p.numerators = {7, -300};
  p.denominators = {2, 1};
  p.zero = 10;
  p.lo = 2;
  p.hi = 200;
  a.Add(Opcode::RECIPROCAL, p, {x}, y);
  // 7 / (2 d) + 10 and -300 / d + 10 for d = x - 1.
  EXPECT_EQ(RunFile(a.Finish(), {BytesOf<int8_t>({2, 2, 1, 1, 0, -9})}),
            (Bytes{14, 2, 200, 2, 6, 40}));
}

}  // namespace
}  // namespace fold::exec
