#include "compiler/lower/requantization.h"

#include "compiler/lower/test_lowering.h"

namespace fold {
namespace {

Graph Product() {
  return GraphOf(R"(fir 1 fused
graph @g(%x: u8[1,2] q(s=0.5 z=128)) -> %y {
  %w = const i8[2,2] q(s=[0.25,0.125] z=0 axis=1) [1,2,3,4]
  %b = const i32[2] q(s=[0.125,0.0625] z=[0,1] axis=0) [8,9]
  %f = const f32[2] [0.75,-3]
  %one = const f32[] [4]
  %p = const f32[2] [1,2]
  %y = gemm(%x, %w, %b, %f, %one, %p) steps [multiply(3), divide(4), add(3), batch_norm(5,5,5,5 eps=0.5), clip(-1, inf)] : i8[1,2] q(s=0.5 z=-3 codes=[-5,7])
})");
}

TEST(Requantization, ConstantsAreRealNumbers) {
  const Graph graph = Product();
  const auto real = [&](const char* name, int64_t i) {
    return RealConstant(graph, graph.FindValue(name), i);
  };
  EXPECT_EQ(real("f", 1), exact::FromInt64(-3));
  EXPECT_EQ(real("one", 1), exact::FromInt64(4));  // one for all channels
  EXPECT_EQ(real("b", 0), exact::FromInt64(1));
  EXPECT_EQ(real("b", 1), exact::FromDouble(0.5));  // (9 - 1) / 16
}

TEST(Requantization, StepsInOrderForEachChannel) {
  const Graph graph = Product();
  const Node& node = graph.node(MakerOf(graph, "y"));
  std::vector<exact::ChainStep> chain;
  AppendSteps(graph, node, 1, &chain);
  ASSERT_EQ(chain.size(), 5u);
  EXPECT_EQ(std::get<exact::Multiply>(chain[0]).factor, exact::FromInt64(-3));
  EXPECT_EQ(std::get<exact::Divide>(chain[1]).divisor, exact::FromInt64(4));
  EXPECT_EQ(std::get<exact::Add>(chain[2]).addend, exact::FromInt64(-3));
  EXPECT_EQ(std::get<exact::BatchNorm>(chain[3]).variance, exact::FromInt64(2));
  EXPECT_EQ(std::get<exact::BatchNorm>(chain[3]).epsilon,
            exact::FromDouble(0.5));
  EXPECT_EQ(std::get<exact::Clip>(chain[4]).low, exact::FromInt64(-1));
  EXPECT_FALSE(std::get<exact::Clip>(chain[4]).high);
}

TEST(Requantization, QuantizationOfAResult) {
  const Graph graph = Product();
  const exact::Quantization q =
      QuantizationOf(graph.value(graph.FindValue("y")).type, 0);
  EXPECT_EQ(q.scale, exact::FromDouble(0.5));
  EXPECT_EQ(q.zero_point, -3);
  EXPECT_EQ(q.code_low, -128);
  EXPECT_EQ(q.code_high, 127);
  EXPECT_EQ(q.clamp_low, -5);
  EXPECT_EQ(q.clamp_high, 7);
}

// acc / 6: a remainder where ties are reachable, and only if the target has it.
TEST(Requantization, FormsOfTheTarget) {
  const std::string pool = R"(fir 1 fused
graph @g(%x: u8[1,1,6] q(s=1 z=0)) -> %y {
  %y = average_pool(%x) {kernel_shape=[6]} : u8[1,1,1] q(s=1 z=0) name "pool"
})";
  const auto form = [&](std::vector<RequantForm> forms) {
    TargetDescriptor target = AnyTarget();
    target.requant.forms = std::move(forms);
    const Lowered lowered = LowerText(pool, target);
    for (const auto& op : lowered.program.artifact.ops) {
      const auto* p = op->parameters.AsPoolParameters();
      if (p) return p->requant->form;
    }
    ExpectFault(lowered, DiagnosticCode::not_on_target, "pool",
                "no requantization of the target is exact");
    return format_::RequantForm::NONE;
  };
  EXPECT_EQ(form({RequantForm::kMul64, RequantForm::kHalfEven64,
                  RequantForm::kRemainder, RequantForm::kThresholds}),
            format_::RequantForm::REMAINDER);
  EXPECT_EQ(form({RequantForm::kMul64, RequantForm::kThresholds}),
            format_::RequantForm::THRESHOLDS);
  EXPECT_EQ(form({RequantForm::kMul64}), format_::RequantForm::NONE);
}

// Thresholds of every channel are as many, ascending, and say what they mean.
TEST(Requantization, ThresholdsOfEveryChannel) {
  TargetDescriptor target = AnyTarget();
  target.requant.forms = {RequantForm::kThresholds};
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: u8[1,1] q(s=1 z=0)) -> %y {
  %w = const i8[1,2] q(s=[1,0.001] z=0 axis=1) [1,-1]
  %y = matmul(%x, %w) : i8[1,2] q(s=1 z=0)
})",
                                    target);
  ASSERT_TRUE(lowered.good) << lowered.Text();
  const auto& r =
      *lowered.op(0).parameters.AsFullyConnectedParameters()->requant;
  ASSERT_EQ(r.form, format_::RequantForm::THRESHOLDS);
  ASSERT_EQ(r.thresholds.size(), 2 * r.threshold_count);
  EXPECT_EQ(r.threshold_count, 127u);
  EXPECT_EQ(r.decreasing, (std::vector<uint8_t>{0, 0}));
  for (uint32_t i = 0; i + 1 < r.threshold_count; ++i) {
    EXPECT_LT(r.thresholds[i], r.thresholds[i + 1]);
  }
  // -255 * 0.001 rounds to 0: that channel never steps.
  for (uint32_t i = 0; i < r.threshold_count; ++i) {
    EXPECT_EQ(r.thresholds[r.threshold_count + i], INT64_MAX);
  }
  EXPECT_EQ(r.first_codes, (std::vector<int>{0, 0}));
}

}  // namespace
}  // namespace fold
