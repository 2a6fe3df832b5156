// What cannot be lowered is named, all of it.
#include "compiler/lower/lower.h"

#include <algorithm>

#include "compiler/lower/test_lowering.h"

namespace fold {
namespace {

constexpr char kProduct[] = R"(fir 1 fused
graph @g(%x: u8[1,2] q(s=0.5 z=128)) -> %y {
  %w = const i8[2,1] q(s=0.25 z=0) [1,2]
  %y = matmul(%x, %w) : u8[1,1] q(s=0.5 z=128) name "product" loc("dq","product")
})";

TEST(Lower, OpsCarryTheirNamesAndSources) {
  const Lowered lowered = LowerText(kProduct);
  ASSERT_TRUE(lowered.good) << lowered.Text();
  EXPECT_EQ(lowered.opcodes(),
            (std::vector<format_::Opcode>{format_::Opcode::FULLY_CONNECTED,
                                          format_::Opcode::COPY}));
  EXPECT_EQ(lowered.op(0).name, "product");
  EXPECT_EQ(lowered.op(0).sources, (std::vector<std::string>{"dq", "product"}));
  EXPECT_EQ(lowered.op(0).exactness, format_::Exactness::PROVED);
  EXPECT_TRUE(lowered.op(1).boundary);
  EXPECT_EQ(lowered.program.artifact.target, "any");
}

TEST(Lower, KernelThatTheTargetLacks) {
  ExpectFault(LowerText(kProduct, Without("fully_connected")),
              DiagnosticCode::not_on_target, "product",
              "needs the kernel 'fully_connected', which target 'any' does not "
              "have");
}

// 2^17 products of 255 * 128 do not fit 32 bits.
TEST(Lower, AccumulatorOverflow) {
  const auto graph = [](int depth) {
    const std::string k = std::to_string(depth);
    return "fir 1 fused\ngraph @g(%x: u8[1," + k + "] q(s=1 z=0)) -> %y {\n" +
           "%w = const i8[" + k +
           ",1] q(s=1 z=0) splat(-128)\n"
           "%y = matmul(%x, %w) : i8[1,1] q(s=1 z=0) name \"deep\"\n}";
  };
  // 65,793 * 32,640 = 2^31 - 128: the last depth that fits.
  EXPECT_TRUE(LowerText(graph(65793)).good);
  ExpectFault(LowerText(graph(65794)), DiagnosticCode::accumulator_overflow,
              "deep", "can reach -2147516160, beyond 32 bits");
}

TEST(Lower, IslandsAreNotedOrRefused) {
  const std::string softmax = R"(fir 1 fused
graph @g(%x: f32[1,2]) -> %y {
  %y = softmax(%x) {axis=-1} : f32[1,2] name "softmax"
})";
  const Lowered noted = LowerText(softmax);
  ASSERT_TRUE(noted.good);
  ASSERT_EQ(noted.sink.all().size(), 1u);
  EXPECT_EQ(noted.sink.all()[0].code, DiagnosticCode::float_island);
  EXPECT_EQ(noted.sink.all()[0].node, "softmax");
  TargetDescriptor target = AnyTarget();
  target.float_islands = false;
  ExpectFault(LowerText(softmax, target), DiagnosticCode::not_on_target,
              "softmax", "would be a float island");
}

TEST(Lower, UnannotatedWeightsAreWarnedOf) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: f32[1,2]) -> %y {
  %w = const f32[2,1] [1,2]
  %y = matmul(%x, %w) : f32[1,1] name "product"
})");
  ASSERT_TRUE(lowered.good);
  const auto& all = lowered.sink.all();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const Diagnostic& d) {
                            return d.code ==
                                       DiagnosticCode::unannotated_weights &&
                                   d.node == "product";
                          }),
            1);
}

// Every fault is told; what follows from one is none.
TEST(Lower, AllFaultsAndNotTheirConsequences) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: i32[2], %u: i32[2], %r: f32[2]) -> (%y, %v, %t) {
  %a = add(%x, %x) : i32[2] name "first"
  %y = add(%a, %u) : i32[2] name "consequence"
  %v = mul(%u, %u) : i32[2] name "second"
  %t = relu(%r) : f32[2]
})");
  EXPECT_FALSE(lowered.good);
  std::vector<std::string> named;
  for (const Diagnostic& d : lowered.sink.all()) {
    if (d.severity() == Severity::kError) {
      EXPECT_EQ(d.code, DiagnosticCode::unsupported_operator);
      named.push_back(d.node);
    }
  }
  EXPECT_EQ(named, (std::vector<std::string>{"first", "second"}));
}

TEST(Lower, TapsNameValuesAndTheirAliases) {
  const std::string text = R"(fir 1 fused
graph @g(%x: u8[1,3,2,2] q(s=0.5 z=128)) -> %y {
  %w = const i8[2,3,1,1] q(s=0.25 z=0) splat(1)
  %c = conv(%x, %w) : u8[1,2,2,2] q(s=0.5 z=128) alias("again", "made")
  %s = const i64[2] [1,8]
  %y = reshape(%c, %s) : u8[1,8] q(s=0.5 z=128)
})";
  EXPECT_TRUE(LowerText(text).program.artifact.taps.empty());
  LowerOptions options;
  options.taps = true;
  // "made" is a name that no model gave.
  options.tap_names = {"x", "c", "again", "y"};
  const Lowered lowered = LowerText(text, AnyTarget(), options);
  ASSERT_TRUE(lowered.good);
  std::vector<std::string> names;
  for (const auto& tap : lowered.program.artifact.taps) {
    names.push_back(tap->name);
    EXPECT_EQ(tap->permutation.size(), tap->shape.size());
    // What no op writes, and no caller passes, would never be captured.
    EXPECT_LT(lowered.program.alias_of[tap->tensor], 0) << tap->name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"x", "c", "again", "y"}));
  // Taps record names alone.
  EXPECT_EQ(lowered.opcodes(), LowerText(text).opcodes());
}

}  // namespace
}  // namespace fold
