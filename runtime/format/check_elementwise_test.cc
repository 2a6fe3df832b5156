#include <gtest/gtest.h>

#include <limits>

#include "runtime/format/test_artifact.h"

namespace fold::format {
namespace {

class CheckBoundary : public ::testing::Test {
 protected:
  TestArtifact a = SmallNetwork();
  QuantizeParametersT& q() {
    return *a.artifact.ops[0]->parameters.AsQuantizeParameters();
  }
  DequantizeParametersT& d() {
    return *a.artifact.ops[2]->parameters.AsDequantizeParameters();
  }
};

TEST_F(CheckBoundary, Scales) {
  for (double scale : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::quiet_NaN()}) {
    q().scales = {scale};
    EXPECT_TRUE(Refuses(&a, "scale not above 0"));
  }
  q().scales = {1, 2, 3};
  EXPECT_TRUE(Refuses(&a, "scales or zero points for other channels"));
  q().zero_points = {1, 2, 3};
  EXPECT_TRUE(Refuses(&a, "scales or zero points for other channels"));
  q().axis = 1;
  EXPECT_TRUE(Accepts(&a));
  q().axis = 4;
  EXPECT_TRUE(Refuses(&a, "axis 4"));
  q().scales = {};
  q().zero_points = {};
  q().axis = 1;
  EXPECT_TRUE(Refuses(&a, "scales or zero points for other channels"));
}

TEST_F(CheckBoundary, Codes) {
  q().zero_points = {256};
  EXPECT_TRUE(Refuses(&a, "codes from 256 to 256"));
  q().zero_points = {0};
  q().hi = 300;
  EXPECT_TRUE(Refuses(&a, "codes from 0 to 300"));
}

TEST_F(CheckBoundary, Roundings) {
  q().rounding = static_cast<Rounding>(10);
  EXPECT_TRUE(Refuses(&a, "no such rounding"));
  q().rounding = Rounding::FLOOR;
  EXPECT_TRUE(Accepts(&a));
  q().rounding = Rounding::SIGN;
  q().zero_points = {0};
  q().hi = 1;
  EXPECT_TRUE(Accepts(&a));
  q().hi = 2;
  EXPECT_TRUE(Refuses(&a, "a sign beyond -1 and 1"));
  q().hi = 1;
  q().zero_points = {1};
  EXPECT_TRUE(Refuses(&a, "a sign with a zero point"));
}

TEST_F(CheckBoundary, Permutation) {
  q().permutation = {0, 1, 2, 3};
  EXPECT_TRUE(Refuses(&a, "physical shape is not the permuted logical one"));
  q().permutation = {0, 1};
  EXPECT_TRUE(Refuses(&a, "not a permutation"));
  q().permutation = {0, 2, 3, 1};
  d().permutation = {};
  EXPECT_TRUE(Refuses(&a, "physical shape is not the permuted logical one"));
}

TEST_F(CheckBoundary, Dequantize) {
  d().offsets = {1, 2};
  EXPECT_TRUE(Refuses(&a, "offsets for other channels"));
  d().offsets = {std::numeric_limits<double>::infinity()};
  EXPECT_TRUE(Refuses(&a, "not finite"));
  d().offsets = {5};
  EXPECT_TRUE(Accepts(&a));
  d().zero_points = {int64_t{1} << 31};
  EXPECT_TRUE(Refuses(&a, "zero point 2147483648"));
}

TEST_F(CheckBoundary, Types) {
  a.artifact.tensors[0]->type = ElementType::S32;
  a.artifact.inputs[0]->type = ElementType::S32;
  EXPECT_TRUE(Refuses(&a, "input is not float"));
}

TEST(CheckElementwise, Add2) {
  TestArtifact a;
  const int x = a.Arena(ElementType::U8, {2, 3});
  const int z = a.Arena(ElementType::S16, {3});
  const int y = a.Arena(ElementType::S8, {2, 3});
  Add2ParametersT p;
  OpT* op = a.Add(Opcode::ADD2, p, {x, z}, y);
  Add2ParametersT& q = *op->parameters.AsAdd2Parameters();
  EXPECT_TRUE(Accepts(&a));
  q.shift = 63;
  EXPECT_TRUE(Refuses(&a, "shift 63"));
  q.shift = 0;
  q.divisor = 0;
  EXPECT_TRUE(Refuses(&a, "divisor 0"));
  q.divisor = 1;
  q.form = static_cast<PairForm>(3);
  EXPECT_TRUE(Refuses(&a, "unknown form"));
  q.form = PairForm::MUL64;
  q.hi = 128;
  EXPECT_TRUE(Refuses(&a, "codes from 0 to 128"));
  q.hi = 0;
  a.artifact.tensors[z]->shape = {3, 1};
  EXPECT_TRUE(Refuses(&a, "operand 1 does not broadcast"));
}

TEST(CheckElementwise, Mul2) {
  TestArtifact a;
  const int x = a.Arena(ElementType::U8, {2, 3});
  const int y = a.Arena(ElementType::S32, {2, 3});
  Mul2ParametersT p;
  p.requant = NoRequant();
  a.Add(Opcode::MUL2, std::move(p), {x, x}, y);
  EXPECT_TRUE(Accepts(&a));
  a.artifact.tensors[x]->type = ElementType::BOOL;
  EXPECT_TRUE(Refuses(&a, "operands are not integer"));
}

TEST(CheckElementwise, Tables) {
  TestArtifact a;
  const int x = a.Arena(ElementType::S8, {2, 3});
  const int y = a.Arena(ElementType::U8, {2, 3});
  const int t =
      a.Constant<uint8_t>(ElementType::U8, {768}, std::vector<uint8_t>(768));
  TableParametersT p;
  p.axis = 1;
  OpT* op = a.Add(Opcode::TABLE_1, p, {x, t}, y);
  EXPECT_TRUE(Accepts(&a));
  op->parameters.AsTableParameters()->axis = 0;
  EXPECT_TRUE(Refuses(&a, "table: 768 elements, not 512"));
  op->parameters.AsTableParameters()->axis = 2;
  EXPECT_TRUE(Refuses(&a, "axis 2"));
  op->inputs = {x, x};
  op->parameters.AsTableParameters()->axis = -1;
  EXPECT_TRUE(Refuses(&a, "table: not a constant of the right type"));
  op->opcode = Opcode::TABLE_2;
  op->inputs = {x, x, t};
  EXPECT_TRUE(Refuses(&a, "table: 768 elements, not 65536"));
}

TEST(CheckElementwise, ClampAndCopy) {
  TestArtifact a;
  const int x = a.Arena(ElementType::S8, {6});
  const int y = a.Arena(ElementType::S8, {2, 3});
  OpT* op = a.Add(Opcode::COPY, NoParametersT(), {x}, y);
  EXPECT_TRUE(Accepts(&a));
  op->opcode = Opcode::CLAMP;
  op->parameters.Set(ClampParametersT());
  EXPECT_TRUE(Refuses(&a, "input and result differ in shape"));
  a.artifact.tensors[y]->shape = {6};
  EXPECT_TRUE(Accepts(&a));
  a.artifact.tensors[y]->type = ElementType::U8;
  EXPECT_TRUE(Refuses(&a, "type changes"));
  op->opcode = Opcode::COPY;
  op->parameters.Set(NoParametersT());
  EXPECT_TRUE(Refuses(&a, "type or size changes"));
}

TEST(CheckElementwise, Concat) {
  TestArtifact a;
  const int x = a.Arena(ElementType::S8, {2, 3});
  const int y = a.Arena(ElementType::S8, {2, 6});
  ConcatParametersT p;
  p.axis = 1;
  OpT* op = a.Add(Opcode::CONCAT, p, {x, x}, y);
  EXPECT_TRUE(Accepts(&a));
  op->inputs = {x};
  EXPECT_TRUE(Refuses(&a, "the lengths do not add up"));
  op->parameters.AsConcatParameters()->axis = 0;
  EXPECT_TRUE(Refuses(&a, "operand 0 does not match"));
  op->parameters.AsConcatParameters()->axis = 2;
  EXPECT_TRUE(Refuses(&a, "axis 2"));
}

TEST(CheckElementwise, PadAndSlice) {
  TestArtifact a;
  const int x = a.Arena(ElementType::S8, {2, 3});
  const int y = a.Arena(ElementType::S8, {2, 2});
  PadParametersT p;
  p.before = {0, INT32_MIN};
  OpT* op = a.Add(Opcode::PAD, p, {x}, y);
  EXPECT_TRUE(Refuses(&a, "padding of"));
  op->parameters.AsPadParameters()->before = {0};
  EXPECT_TRUE(Refuses(&a, "type or dimensions change"));
  op->parameters.AsPadParameters()->before = {0, -1};
  EXPECT_TRUE(Accepts(&a));
  op->opcode = Opcode::SLICE;
  SliceParametersT s;
  s.starts = {0, 2};
  s.steps = {1, -2};
  op->parameters.Set(std::move(s));
  SliceParametersT& q = *op->parameters.AsSliceParameters();
  EXPECT_TRUE(Accepts(&a));
  q.steps = {1, 1};
  EXPECT_TRUE(Refuses(&a, "dimension 1 leaves the input"));
  q.steps = {1, 0};
  EXPECT_TRUE(Refuses(&a, "start or step of dimension 1"));
  q.starts = {0, 3};
  q.steps = {1, -1};
  EXPECT_TRUE(Refuses(&a, "start or step of dimension 1"));
}

TEST(CheckElementwise, Reciprocal) {
  TestArtifact a;
  const int x = a.Arena(ElementType::S8, {2, 3});
  const int y = a.Arena(ElementType::U8, {2, 3});
  ReciprocalParametersT p;
  p.axis = 1;
  p.numerators = {1, -2, 0};
  p.denominators = {1, 3, int64_t{1} << 46};
  p.hi = 255;
  OpT* op = a.Add(Opcode::RECIPROCAL, std::move(p), {x}, y);
  ReciprocalParametersT& q = *op->parameters.AsReciprocalParameters();
  EXPECT_TRUE(Accepts(&a));
  q.denominators[2] = (int64_t{1} << 46) + 1;
  EXPECT_TRUE(Refuses(&a, "fraction 0 / 70368744177665"));
  q.denominators[2] = 0;
  EXPECT_TRUE(Refuses(&a, "fraction 0 / 0"));
  q.denominators[2] = 1;
  q.numerators[1] = (int64_t{1} << 62) + 1;
  EXPECT_TRUE(Refuses(&a, "fraction 4611686018427387905 / 3"));
  q.numerators[1] = INT64_MIN;
  EXPECT_TRUE(Refuses(&a, "fraction -9223372036854775808 / 3"));
  q.numerators = {1, 2};
  EXPECT_TRUE(Refuses(&a, "numerators or denominators for other channels"));
  q.numerators = {};
  EXPECT_TRUE(Refuses(&a, "numerators or denominators for other channels"));
  q.numerators = {1, 2, 3};
  q.axis = 0;
  EXPECT_TRUE(Refuses(&a, "numerators or denominators for other channels"));
  q.axis = 2;
  EXPECT_TRUE(Refuses(&a, "axis 2"));
  q.axis = 1;
  q.input_zero = 128;
  EXPECT_TRUE(Refuses(&a, "codes from 128 to 128"));
  q.input_zero = 0;
  q.lo = -1;
  EXPECT_TRUE(Refuses(&a, "codes from -1 to 255"));
  q.lo = 0;
  a.artifact.tensors[y]->shape = {3, 2};
  EXPECT_TRUE(Refuses(&a, "input and result differ in shape"));
  a.artifact.tensors[y]->shape = {2, 3};
  a.artifact.tensors[x]->type = ElementType::S32;
  a.artifact.tensors[x]->bytes *= 4;
  EXPECT_TRUE(Refuses(&a, "input has neither 8 nor 16 bits"));
}

}  // namespace
}  // namespace fold::format
