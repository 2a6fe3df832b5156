#include "compiler/lower/test_lowering.h"

namespace fold {
namespace {

std::string Pair(const std::string& op, const std::string& steps = "") {
  return "fir 1 fused\ngraph @g(%a: u8[2] q(s=0.5 z=128), "
         "%b: i8[2] q(s=0.25 z=-3)) -> %y {\n%f = const f32[] [3]\n"
         "%y = " +
         op + " " + steps + " : u8[2] q(s=0.5 z=100)\n}";
}

TEST(LowerArithmetic, SumsOfScalesOfPowersOfTwoMeetTies) {
  const Lowered lowered = LowerText(Pair("add(%a, %b)"));
  ASSERT_TRUE(lowered.good) << lowered.Text();
  ASSERT_EQ(lowered.op(0).opcode, format_::Opcode::ADD2);
  const auto& p = *lowered.op(0).parameters.AsAdd2Parameters();
  EXPECT_EQ(p.form, format_::PairForm::HALF_EVEN64);
  // (a * M + b * N + C) / 2^S is (2 (a - 128) + (b + 3)) / 2.
  EXPECT_EQ(p.a_multiplier, 2 * p.b_multiplier);
  EXPECT_EQ(int64_t{1} << p.shift, 2 * p.b_multiplier);
  EXPECT_EQ(p.zero, 100);
  EXPECT_EQ(p.lo, 0);
  EXPECT_EQ(p.hi, 255);
}

TEST(LowerArithmetic, DifferencesSubtract) {
  const Lowered lowered = LowerText(Pair("sub(%a, %b)"));
  ASSERT_TRUE(lowered.good) << lowered.Text();
  const auto& p = *lowered.op(0).parameters.AsAdd2Parameters();
  EXPECT_EQ(p.a_multiplier, -2 * p.b_multiplier);
}

TEST(LowerArithmetic, Products) {
  const Lowered lowered =
      LowerText(Pair("mul(%a, %b, %f)", "steps [multiply(2)]"));
  ASSERT_TRUE(lowered.good) << lowered.Text();
  ASSERT_EQ(lowered.op(0).opcode, format_::Opcode::MUL2);
  const auto& p = *lowered.op(0).parameters.AsMul2Parameters();
  EXPECT_EQ(p.a_zero, 128);
  EXPECT_EQ(p.b_zero, -3);
  EXPECT_NE(p.requant->form, format_::RequantForm::NONE);
}

TEST(LowerArithmetic, OperandsThatAreNotEightBit) {
  ExpectFault(LowerText(R"(fir 1 fused
graph @g(%a: u16[2] q(s=0.5 z=128)) -> %y {
  %y = add(%a, %a) : u8[2] q(s=0.5 z=100) name "sum"
})"),
              DiagnosticCode::unsupported_operator, "sum", "not 8-bit");
  ExpectFault(LowerText(R"(fir 1 fused
graph @g(%a: u8[2] q(s=[1,2] z=128 axis=0)) -> %y {
  %y = add(%a, %a) : u8[2] q(s=0.5 z=100) name "sum"
})"),
              DiagnosticCode::unsupported_operator, "sum", "one scale");
}

// Entry c - low of the table is the code of (c - z) * s, by hand.
TEST(LowerRequantize, TableOfAllCodes) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: i8[2] q(s=0.5 z=-3)) -> %y {
  %y = requantize(%x) steps [clip(0, inf)] : u8[2] q(s=1 z=10)
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  ASSERT_EQ(lowered.op(0).opcode, format_::Opcode::TABLE_1);
  const auto table = lowered.constant<uint8_t>(lowered.op(0).inputs[1]);
  ASSERT_EQ(table.size(), 256u);
  EXPECT_EQ(table[0], 10);          // below zero
  EXPECT_EQ(table[-3 + 128], 10);   // 0
  EXPECT_EQ(table[-2 + 128], 10);   // 0.5 ties to 0
  EXPECT_EQ(table[0 + 128], 12);    // 1.5 ties to 2
  EXPECT_EQ(table[1 + 128], 12);    // 2
  EXPECT_EQ(table[127 + 128], 75);  // 65
  EXPECT_EQ(lowered.op(0).parameters.AsTableParameters()->axis, -1);
}

TEST(LowerRequantize, TableForEachChannel) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: u8[1,2,3] q(s=1 z=0)) -> %y {
  %f = const f32[2] [1,2]
  %y = requantize(%x, %f) steps [multiply(1)] : u8[1,2,3] q(s=1 z=0)
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  const auto table = lowered.constant<uint8_t>(lowered.op(0).inputs[1]);
  ASSERT_EQ(table.size(), 512u);
  EXPECT_EQ(table[7], 7);
  EXPECT_EQ(table[256 + 7], 14);
  EXPECT_EQ(table[256 + 200], 255);
  EXPECT_EQ(lowered.op(0).parameters.AsTableParameters()->axis, 1);
}

TEST(LowerRequantize, WideCodesAreRefused) {
  ExpectFault(LowerText(R"(fir 1 fused
graph @g(%x: u16[2] q(s=1 z=0)) -> %y {
  %y = requantize(%x) : u8[2] q(s=2 z=0) name "q"
})"),
              DiagnosticCode::unsupported_operator, "q", "not 8-bit");
}

}  // namespace
}  // namespace fold
