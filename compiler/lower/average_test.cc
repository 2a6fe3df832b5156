#include "compiler/lower/test_lowering.h"

namespace fold {
namespace {

TEST(LowerAverage, OneRequantizationForEachKindOfWindow) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: u8[1,2,4,3] q(s=0.5 z=37)) -> %y {
  %y = average_pool(%x) {kernel_shape=[3,2], pads=[1,0,1,1]} : u8[1,2,4,3] q(s=0.5 z=37)
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  const auto& op = lowered.op(1);
  ASSERT_EQ(op.opcode, format_::Opcode::AVERAGE_POOL);
  const auto& p = *op.parameters.AsPoolParameters();
  EXPECT_EQ(p.input_zero, 37);
  EXPECT_EQ(p.row_classes, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(p.column_classes, (std::vector<int>{1, 1, 0}));
  EXPECT_EQ(p.column_class_count, 2);
  // Divisors 2, 4, 3 and 6.
  ASSERT_EQ(p.requant->form, format_::RequantForm::REMAINDER);
  ASSERT_EQ(p.requant->divisors.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const int64_t divisors[] = {2, 4, 3, 6};
    EXPECT_EQ(p.requant->divisors[i], divisors[i] * p.requant->multipliers[i]);
  }
}

TEST(LowerAverage, ReducedAxesInTheOrderOfMemory) {
  // Behind a convolution the value lies channels last.
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: u8[1,2,4,3] q(s=0.5 z=37)) -> %y {
  %w = const i8[5,2,1,1] q(s=1 z=0) splat(1)
  %c = conv(%x, %w) : u8[1,5,4,3] q(s=0.5 z=37)
  %y = reduce_mean(%c) {axes=[1,-1], keepdims=0} : u8[1,4] q(s=0.5 z=37)
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  const format_::OpT* reduce = nullptr;
  for (const auto& op : lowered.program.artifact.ops) {
    if (op->opcode == format_::Opcode::REDUCE_SUM) reduce = op.get();
  }
  ASSERT_NE(reduce, nullptr);
  const auto& p = *reduce->parameters.AsReduceParameters();
  EXPECT_EQ(p.axes, (std::vector<int>{2, 3}));  // width and channel
  EXPECT_EQ(lowered.tensor(reduce->outputs[0]).shape, (Shape{1, 4}));
  EXPECT_EQ(p.input_zero, 37);
}

TEST(LowerAverage, GlobalMeans) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: u8[1,2,5] q(s=0.5 z=37)) -> %y {
  %y = global_average_pool(%x) : u8[1,2,1] q(s=0.5 z=37)
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  ASSERT_EQ(lowered.op(0).opcode, format_::Opcode::REDUCE_SUM);
  EXPECT_EQ(lowered.op(0).parameters.AsReduceParameters()->axes,
            std::vector<int>{2});
}

TEST(LowerAverage, Faults) {
  ExpectFault(LowerText(R"(fir 1 fused
graph @g(%x: u8[1,1,2,2,2] q(s=1 z=0)) -> %y {
  %y = average_pool(%x) {kernel_shape=[1,1,1]} : u8[1,1,2,2,2] q(s=1 z=0) name "pool"
})"),
              DiagnosticCode::unsupported_operator, "pool",
              "three or more dimensions");
  ExpectFault(LowerText(R"(fir 1 fused
graph @g(%x: u8[1,2,2] q(s=[1,2] z=0 axis=1)) -> %y {
  %y = average_pool(%x) {kernel_shape=[1]} : u8[1,2,2] q(s=1 z=0) name "pool"
})"),
              DiagnosticCode::unsupported_operator, "pool",
              "more than one scale");
}

}  // namespace
}  // namespace fold
