#include <cmath>

#include "compiler/lower/lowering.h"
#include "compiler/lower/test_lowering.h"

namespace fold {
namespace {

using Opcodes = std::vector<format_::Opcode>;

std::string Conv(const std::string& input, const std::string& weights,
                 const std::string& attributes, const std::string& result) {
  return "fir 1 fused\ngraph @g(%x: u8[" + input + "] q(s=0.5 z=3)) -> %y {\n" +
         "%w = const i8[" + weights + "] q(s=0.25 z=0) splat(1)\n" +
         "%y = conv(%x, %w) {" + attributes + "} : u8[" + result +
         "] q(s=2 z=0) name \"conv\"\n}";
}

// The first op of this kind.
const format_::OpT& Find(const Lowered& lowered, format_::Opcode opcode) {
  for (const auto& op : lowered.program.artifact.ops) {
    if (op->opcode == opcode) return *op;
  }
  ADD_FAILURE() << "no op " << KernelName(opcode) << "\n" << lowered.Text();
  return *lowered.program.artifact.ops.at(0);
}

TEST(LowerLinear, WindowOfAConvolution) {
  const Lowered lowered = LowerText(
      Conv("1,2,9,8", "3,2,3,2",
           "strides=[2,1], dilations=[1,3], pads=[1,2,0,3]", "1,3,4,10"));
  const auto& op = Find(lowered, format_::Opcode::CONV);
  const auto& p = *op.parameters.AsConvParameters();
  EXPECT_EQ(p.kernel_height, 3);
  EXPECT_EQ(p.kernel_width, 2);
  EXPECT_EQ(p.stride_height, 2);
  EXPECT_EQ(p.stride_width, 1);
  EXPECT_EQ(p.dilation_height, 1);
  EXPECT_EQ(p.dilation_width, 3);
  EXPECT_EQ(p.pad_top, 1);
  EXPECT_EQ(p.pad_left, 2);
  EXPECT_EQ(p.input_zero, 3);
  EXPECT_EQ(p.groups, 1);
  EXPECT_EQ(lowered.tensor(op.outputs[0]).shape, (Shape{1, 4, 10, 3}));
  EXPECT_EQ(lowered.tensor(op.inputs[0]).shape, (Shape{1, 9, 8, 2}));
}

TEST(LowerLinear, GroupsAndDepthwise) {
  const std::string depthwise =
      Conv("1,4,5,5", "8,1,3,3", "group=4", "1,8,3,3");
  EXPECT_EQ(Find(LowerText(depthwise), format_::Opcode::DEPTHWISE_CONV)
                .parameters.AsConvParameters()
                ->groups,
            1);
  // A target without that kernel takes it as groups.
  EXPECT_EQ(Find(LowerText(depthwise, Without("depthwise_conv")),
                 format_::Opcode::CONV)
                .parameters.AsConvParameters()
                ->groups,
            4);
  EXPECT_EQ(Find(LowerText(Conv("1,4,5,5", "6,2,3,3", "group=2", "1,6,3,3")),
                 format_::Opcode::CONV)
                .parameters.AsConvParameters()
                ->groups,
            2);
}

TEST(LowerLinear, ThreeDimensionsAreRefused) {
  ExpectFault(LowerText(Conv("1,1,3,3,3", "1,1,2,2,2", "", "1,1,2,2,2")),
              DiagnosticCode::unsupported_operator, "conv",
              "three or more dimensions");
}

// A real result is int32 sums with a scale and an offset for each channel.
TEST(LowerLinear, AccumulatorsAsAnOutput) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: u8[1,2] q(s=0.5 z=3)) -> %y {
  %w = const i8[2,2] q(s=[0.25,0.125] z=0 axis=1) [1,2,3,4]
  %b = const f32[2] [1.5,-2]
  %y = gemm(%x, %w, %b) {alpha=2.0, beta=4.0} : f32[1,2]
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  const auto& op = Find(lowered, format_::Opcode::FULLY_CONNECTED);
  const auto& raw = lowered.tensor(op.outputs[0]);
  EXPECT_EQ(raw.type, format_::ElementType::S32);
  EXPECT_EQ(raw.quantization->scales, (std::vector<double>{0.25, 0.125}));
  EXPECT_EQ(raw.quantization->offsets, (std::vector<double>{6, -8}));
  EXPECT_EQ(raw.quantization->axis, 1);
  const auto& convert = Find(lowered, format_::Opcode::DEQUANTIZE);
  EXPECT_TRUE(convert.boundary);
  EXPECT_TRUE(lowered.program.artifact.outputs[0]->converted);
}

// Weights with a zero point have it in a tensor of its own.
TEST(LowerLinear, ZeroPointsOfWeights) {
  const auto inputs = [](const std::string& zero) {
    return LowerText(
               "fir 1 fused\ngraph @g(%x: u8[1,2] q(s=0.5 z=3)) -> %y {\n"
               "%w = const i8[2,1] q(s=0.25 z=" +
               zero +
               ") [1,2]\n"
               "%y = matmul(%x, %w) : u8[1,1] q(s=2 z=0)\n}")
        .op(0)
        .inputs.size();
  };
  EXPECT_EQ(inputs("0"), 3u);
  EXPECT_EQ(inputs("5"), 4u);
}

TEST(LowerLinear, BiasThatDoesNotRunAlongTheOutputs) {
  ExpectFault(LowerText(R"(fir 1 fused
graph @g(%x: u8[2,2] q(s=0.5 z=3)) -> %y {
  %w = const i8[2,2] q(s=0.25 z=0) [1,2,3,4]
  %b = const f32[2,1] [1.5,-2]
  %y = gemm(%x, %w, %b) : u8[2,2] q(s=2 z=0) name "gemm"
})"),
              DiagnosticCode::unsupported_operator, "gemm",
              "does not run along the output channels");
}

TEST(LowerLinear, ResultQuantizedAlongAnotherAxis) {
  ExpectFault(LowerText(R"(fir 1 fused
graph @g(%x: u8[2,2] q(s=0.5 z=3)) -> %y {
  %w = const i8[2,2] q(s=0.25 z=0) [1,2,3,4]
  %y = matmul(%x, %w) : u8[2,2] q(s=[2,3] z=0 axis=0) name "product"
})"),
              DiagnosticCode::unsupported_operator, "product",
              "along another axis");
}

}  // namespace
}  // namespace fold
