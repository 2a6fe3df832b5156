#include "compiler/lower/test_lowering.h"

namespace fold {
namespace {

using Opcodes = std::vector<format_::Opcode>;

constexpr char kIdentityNetwork[] = R"(fir 1 fused
graph @g(%x: f32[2]) -> %y {
  %s = const f32[] [0.5]
  %z = const u8[] [7]
  %q = quantize_linear(%x, %s, %z) : u8[2] q(s=0.5 z=7 codes=[7,200])
  %y = dequantize_linear(%q, %s, %z) : f32[2]
})";

TEST(LowerBoundary, FloatsAreConvertedOnce) {
  const Lowered lowered = LowerText(kIdentityNetwork);
  ASSERT_EQ(lowered.opcodes(),
            (Opcodes{format_::Opcode::QUANTIZE, format_::Opcode::DEQUANTIZE}));
  EXPECT_TRUE(lowered.op(0).boundary);
  EXPECT_TRUE(lowered.op(1).boundary);
  const auto& p = *lowered.op(0).parameters.AsQuantizeParameters();
  EXPECT_EQ(p.scales, std::vector<double>{0.5});
  EXPECT_EQ(p.zero_points, std::vector<int64_t>{7});
  EXPECT_EQ(p.lo, 7);
  EXPECT_EQ(p.hi, 200);
  const auto& input = *lowered.program.artifact.inputs[0];
  EXPECT_EQ(input.name, "x");
  EXPECT_EQ(input.type, format_::ElementType::F32);
  EXPECT_TRUE(input.converted);
  EXPECT_EQ(input.quantization->zero_points, std::vector<int64_t>{7});
  EXPECT_TRUE(lowered.program.artifact.outputs[0]->converted);
}

TEST(LowerBoundary, CodesInAndOut) {
  LowerOptions options;
  options.quantized_io = true;
  const Lowered lowered = LowerText(kIdentityNetwork, AnyTarget(), options);
  // A caller's code may be any: the range of this quantization is not.
  ASSERT_EQ(lowered.opcodes(),
            (Opcodes{format_::Opcode::CLAMP, format_::Opcode::COPY}));
  EXPECT_EQ(lowered.op(0).parameters.AsClampParameters()->lo, 7);
  EXPECT_EQ(lowered.op(0).parameters.AsClampParameters()->hi, 200);
  for (const auto* entry : {lowered.program.artifact.inputs[0].get(),
                            lowered.program.artifact.outputs[0].get()}) {
    EXPECT_EQ(entry->type, format_::ElementType::U8);
    EXPECT_FALSE(entry->converted);
    EXPECT_EQ(entry->quantization->scales, std::vector<double>{0.5});
  }
}

TEST(LowerBoundary, AccumulatorsOut) {
  LowerOptions options;
  options.quantized_io = true;
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: u8[1,2] q(s=0.5 z=3)) -> %y {
  %w = const i8[2,1] q(s=0.25 z=0) [1,2]
  %b = const f32[1] [3]
  %y = gemm(%x, %w, %b) : f32[1,1]
})",
                                    AnyTarget(), options);
  ASSERT_TRUE(lowered.good) << lowered.Text();
  const auto& output = *lowered.program.artifact.outputs[0];
  EXPECT_EQ(output.type, format_::ElementType::S32);
  EXPECT_EQ(output.quantization->scales, std::vector<double>{0.125});
  EXPECT_EQ(output.quantization->offsets, std::vector<double>{3});
}

TEST(LowerBoundary, OutputsOfEveryKind) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: f32[2], %i: i64[1]) -> (%x as "same", %i as "number", %c, %r, %r as "again") {
  %c = const f32[1] [0.5]
  %r = relu(%x) : f32[2]
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  std::vector<std::string> names;
  for (const auto& output : lowered.program.artifact.outputs) {
    names.push_back(output->name);
    EXPECT_EQ(lowered.tensor(output->tensor).storage, format_::Storage::OUTPUT);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"same", "number", "c", "r", "again"}));
  EXPECT_EQ(lowered.program.artifact.outputs[1]->type,
            format_::ElementType::S64);
}

TEST(LowerBoundary, TypesThatNoBufferHolds) {
  ExpectFault(LowerText("fir 1 fused\ngraph @g(%x: f16[2]) -> %y {\n"
                        "%y = relu(%x) : f16[2]\n}"),
              DiagnosticCode::unsupported_type, "x", "f16");
  ExpectFault(LowerText("fir 1 fused\ngraph @g(%x: f32[2]) -> %y {\n"
                        "%y = relu(%x) : bf16[2]\n}"),
              DiagnosticCode::unsupported_type, "y", "bf16");
}

// A code of a blocked quantization is no code of one scale a channel.
TEST(LowerBoundary, BlockedActivations) {
  ExpectFault(LowerText(R"(fir 1 fused
graph @g(%x: f32[4,1]) -> %q {
  %s = const f32[2,1] [0.5,1]
  %q = quantize_linear(%x, %s) {axis=0, block_size=2} : u8[4,1] q(s=[0.5,1] z=0 axis=0 block=2) name "q"
})"),
              DiagnosticCode::unsupported_attribute, "q", "blocked");
}

// The permutation and the axis of a conversion.
TEST(LowerBoundary, QuantizeStraightIntoTheLayoutThatIsRead) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: f32[1,2,3,4]) -> %y {
  %s = const f32[] [0.5]
  %q = quantize_linear(%x, %s) : u8[1,2,3,4] q(s=0.5 z=0)
  %w = const i8[1,2,1,1] q(s=1 z=0) [1,2]
  %y = conv(%q, %w) : u8[1,1,3,4] q(s=0.5 z=0)
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  ASSERT_EQ(lowered.op(0).opcode, format_::Opcode::QUANTIZE);
  EXPECT_EQ(lowered.op(0).parameters.AsQuantizeParameters()->permutation,
            (std::vector<int>{0, 2, 3, 1}));
  EXPECT_EQ(lowered.op(1).opcode, format_::Opcode::CONV);
}

}  // namespace
}  // namespace fold
