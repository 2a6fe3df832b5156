#include "compiler/lower/test_lowering.h"

namespace fold {
namespace {

using Opcodes = std::vector<format_::Opcode>;

// Reshaping and transposing rename bytes; only the output puts them in order.
TEST(LowerMovement, NamesForTheSameBytes) {
  const Lowered reshape = LowerText(R"(fir 1 fused
graph @g(%x: u8[2,3] q(s=1 z=0)) -> %y {
  %s = const i64[2] [3,2]
  %y = reshape(%x, %s) : u8[3,2] q(s=1 z=0)
})");
  EXPECT_EQ(reshape.opcodes(), Opcodes{format_::Opcode::COPY});
  const Lowered transpose = LowerText(R"(fir 1 fused
graph @g(%x: u8[2,3,4] q(s=1 z=0)) -> %y {
  %a = transpose(%x) {perm=[2,0,1]} : u8[4,2,3] q(s=1 z=0)
  %y = transpose(%a) {perm=[1,2,0]} : u8[2,3,4] q(s=1 z=0)
})");
  EXPECT_EQ(transpose.opcodes(), Opcodes{format_::Opcode::COPY});
  const Lowered once = LowerText(R"(fir 1 fused
graph @g(%x: u8[2,3,4] q(s=1 z=0)) -> %y {
  %y = transpose(%x) {perm=[2,0,1]} : u8[4,2,3] q(s=1 z=0)
})");
  ASSERT_EQ(once.opcodes(), Opcodes{format_::Opcode::TRANSPOSE});
  EXPECT_EQ(once.op(0).parameters.AsTransposeParameters()->permutation,
            (std::vector<int>{2, 0, 1}));
}

TEST(LowerMovement, ConcatRecodesWhatMeansSomethingElse) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%a: u8[1,2] q(s=0.5 z=10), %b: u8[1,1] q(s=1 z=10)) -> %y {
  %y = concat(%a, %b) {axis=-1} : u8[1,3] q(s=0.5 z=10)
})");
  ASSERT_EQ(lowered.opcodes(),
            (Opcodes{format_::Opcode::TABLE_1, format_::Opcode::CONCAT,
                     format_::Opcode::COPY}));
  const auto table = lowered.constant<uint8_t>(lowered.op(0).inputs[1]);
  EXPECT_EQ(table[10], 10);
  EXPECT_EQ(table[11], 12);
  EXPECT_EQ(table[0], 0);  // 10 - 20 saturates
  EXPECT_EQ(table[200], 255);
  EXPECT_EQ(lowered.op(1).parameters.AsConcatParameters()->axis, 1);
}

// The axis of a Concat is counted in the layout that the values lie in.
TEST(LowerMovement, ConcatOfChannels) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: u8[1,2,4,3] q(s=0.5 z=37)) -> %y {
  %w = const i8[5,2,1,1] q(s=1 z=0) splat(1)
  %a = conv(%x, %w) : u8[1,5,4,3] q(s=0.5 z=37)
  %b = conv(%x, %w) : u8[1,5,4,3] q(s=0.5 z=37)
  %y = concat(%a, %b) {axis=1} : u8[1,10,4,3] q(s=0.5 z=37)
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  for (const auto& op : lowered.program.artifact.ops) {
    if (op->opcode != format_::Opcode::CONCAT) continue;
    EXPECT_EQ(op->parameters.AsConcatParameters()->axis, 3);
  }
}

TEST(LowerMovement, PadAndClamp) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: i8[2,3] q(s=1 z=-5)) -> %y {
  %p = const i64[4] [1,0,0,2]
  %v = const i8[] [-5]
  %a = pad(%x, %p, %v) : i8[3,5] q(s=1 z=-5)
  %lo = const i8[] [-8]
  %y = clip(%a, %lo) : i8[3,5] q(s=1 z=-5)
})");
  ASSERT_EQ(lowered.opcodes(),
            (Opcodes{format_::Opcode::PAD, format_::Opcode::CLAMP,
                     format_::Opcode::COPY}));
  const auto& pad = *lowered.op(0).parameters.AsPadParameters();
  EXPECT_EQ(pad.before, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(pad.value, -5);
  const auto& clamp = *lowered.op(1).parameters.AsClampParameters();
  EXPECT_EQ(clamp.lo, -8);
  EXPECT_EQ(clamp.hi, 127);
}

TEST(LowerMovement, MaxPool) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: u8[1,2,4,4] q(s=1 z=0)) -> %y {
  %y = max_pool(%x) {kernel_shape=[2,3], strides=[2,1], pads=[0,1,0,0]} : u8[1,2,2,3] q(s=1 z=0)
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  const auto& p = *lowered.op(1).parameters.AsPoolParameters();
  EXPECT_EQ(lowered.op(1).opcode, format_::Opcode::MAX_POOL);
  EXPECT_EQ(p.kernel_width, 3);
  EXPECT_EQ(p.stride_height, 2);
  EXPECT_EQ(p.pad_left, 1);
}

TEST(LowerMovement, Faults) {
  ExpectFault(LowerText(R"(fir 1 fused
graph @g(%x: i8[1,1,3] q(s=1 z=0)) -> %y {
  %p = const i64[6] [0,0,1,0,0,0]
  %y = pad(%x, %p) {mode="reflect"} : i8[1,1,4] q(s=1 z=0) name "pad"
})"),
              DiagnosticCode::unsupported_attribute, "pad", "constant");
  ExpectFault(LowerText(R"(fir 1 fused
graph @g(%x: u8[1,1,4] q(s=1 z=0)) -> (%y, %i) {
  %y, %i = max_pool(%x) {kernel_shape=[2]} : u8[1,1,3] q(s=1 z=0), i64[1,1,3] name "pool"
})"),
              DiagnosticCode::unsupported_operator, "pool", "Indices");
  ExpectFault(LowerText(R"(fir 1 fused
graph @g(%a: u8[2,2] q(s=[1,2] z=0 axis=0)) -> %y {
  %y = concat(%a, %a) {axis=1} : u8[2,4] q(s=1 z=0) name "cat"
})"),
              DiagnosticCode::unsupported_operator, "cat",
              "cannot be brought together");
}

}  // namespace
}  // namespace fold
