// What holds for every op, one broken rule at a time; and that every opcode of
// kernel_opcodes.def has its row.
#include <gtest/gtest.h>

#include <string>

#include "runtime/format/check.h"
#include "runtime/format/test_artifact.h"

namespace fold::format {
namespace {

TEST(CheckOp, EveryOpcodeHasARuleOfItsName) {
  int count = 0;
#define FOLD_OPCODE(number, id, parameters)                      \
  ASSERT_NE(FindOpRule(Opcode::id), nullptr) << #id;             \
  EXPECT_EQ(std::string(FindOpRule(Opcode::id)->name), #id);     \
  EXPECT_EQ(ParametersOf(Opcode::id), OpParameters::parameters); \
  EXPECT_STREQ(EnumNameOpcode(Opcode::id), #id);                 \
  ++count;
#include "runtime/format/kernel_opcodes.def"
  // And the schema has no other.
  int named = 0;
  for (const Opcode opcode : EnumValuesOpcode()) {
    named += opcode != Opcode::INVALID ? 1 : 0;
  }
  EXPECT_EQ(named, count);
  EXPECT_EQ(FindOpRule(Opcode::INVALID), nullptr);
}

class CheckAnyOp : public ::testing::Test {
 protected:
  TestArtifact a = SmallNetwork();
  OpT& conv() { return *a.artifact.ops[1]; }
};

TEST_F(CheckAnyOp, Opcode) {
  conv().opcode = static_cast<Opcode>(1000);
  EXPECT_TRUE(Refuses(&a, "op 1 (?, op1): unknown opcode 1000"));
  conv().opcode = Opcode::INVALID;
  EXPECT_TRUE(Refuses(&a, "unknown opcode 0"));
}

TEST_F(CheckAnyOp, Parameters) {
  conv().parameters.Set(ClampParametersT());
  EXPECT_TRUE(Refuses(&a, "parameters of another opcode"));
  conv().parameters.Reset();
  EXPECT_TRUE(Refuses(&a, "parameters of another opcode"));
}

TEST_F(CheckAnyOp, Operands) {
  conv().inputs = {1, 2};
  EXPECT_TRUE(Refuses(&a, "2 operands"));
  conv().inputs = {1, 2, 3, 3, 3};
  EXPECT_TRUE(Refuses(&a, "5 operands"));
  conv().inputs = {1, 2, 77};
  EXPECT_TRUE(Refuses(&a, "operand 2: no tensor 77"));
  conv().inputs = {-1, 2, 3};
  EXPECT_TRUE(Refuses(&a, "operand 0: no tensor -1"));
  conv().inputs = {1, 2, 3};
  conv().outputs = {};
  EXPECT_TRUE(Refuses(&a, "0 results"));
  conv().outputs = {INT32_MAX};
  EXPECT_TRUE(Refuses(&a, "result: no tensor"));
}

TEST_F(CheckAnyOp, ResultIsWritable) {
  conv().outputs = {0};
  EXPECT_TRUE(Refuses(&a, "the result is not writable"));
  conv().outputs = {2};
  EXPECT_TRUE(Refuses(&a, "the result is not writable"));
}

TEST_F(CheckAnyOp, Scratch) {
  const uint64_t offset = conv().scratch_offset;
  conv().scratch_offset = offset + 8;
  EXPECT_TRUE(Refuses(&a, "scratch is misplaced"));
  conv().scratch_offset = UINT64_MAX - 63;
  EXPECT_TRUE(Refuses(&a, "scratch is misplaced"));
  const uint64_t bytes = conv().scratch_bytes;
  conv().scratch_bytes = 64;
  conv().scratch_offset = a.artifact.tensors[1]->offset;
  EXPECT_TRUE(Refuses(&a, "scratch overlaps operand 0"));
  conv().scratch_bytes = bytes;
  conv().scratch_offset = a.artifact.tensors[4]->offset;
  EXPECT_TRUE(Refuses(&a, "scratch overlaps the result"));
  conv().scratch_offset = offset;
  conv().scratch_bytes = 70;
  EXPECT_TRUE(Refuses(&a, "scratch is too small"));
  conv().scratch_bytes = UINT64_MAX;
  EXPECT_TRUE(Refuses(&a, "scratch is misplaced"));
  a.artifact.ops[0]->scratch_bytes = 1;
  EXPECT_TRUE(Refuses(&a, "needs no scratch"));
}

TEST_F(CheckAnyOp, Overlap) {
  a.artifact.tensors[4]->offset = a.artifact.tensors[1]->offset + 32;
  EXPECT_TRUE(Refuses(&a, "operand 0 overlaps the result"));
}

// In place: the same bytes, of an op that reads in step with its writing.
TEST(CheckOp, InPlace) {
  TestArtifact a;
  const int x = a.Arena(ElementType::U8, {4, 4});
  const int y = a.Arena(ElementType::S8, {4, 4});
  a.artifact.tensors[y]->offset = a.artifact.tensors[x]->offset;
  RequantizeParametersT p;
  p.requant = ShiftRequant(1, -128, 127);
  OpT* op = a.Add(Opcode::REQUANTIZE, p, {x}, y);
  EXPECT_TRUE(Accepts(&a));
  a.artifact.tensors[y]->offset += 4;
  EXPECT_TRUE(Refuses(&a, "operand 0 overlaps the result"));
  a.artifact.tensors[y]->offset -= 4;
  op->opcode = Opcode::TRANSPOSE;
  TransposeParametersT t;
  t.permutation = {1, 0};
  op->parameters.Set(std::move(t));
  EXPECT_TRUE(Refuses(&a, "operand 0 overlaps the result"));
}

TEST(CheckOp, InPlaceNeedsTheSameShape) {
  TestArtifact a;
  const int x = a.Arena(ElementType::U8, {4, 1});
  const int z = a.Arena(ElementType::U8, {4});
  const int y = a.Arena(ElementType::U8, {4, 4});
  Add2ParametersT p;
  p.hi = 255;
  a.Add(Opcode::ADD2, p, {x, z}, y);
  EXPECT_TRUE(Accepts(&a));
  a.artifact.tensors[y]->offset = a.artifact.tensors[x]->offset;
  EXPECT_TRUE(Refuses(&a, "operand 0 overlaps the result"));
}

}  // namespace
}  // namespace fold::format
