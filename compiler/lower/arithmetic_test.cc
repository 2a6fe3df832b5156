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

// The constant's codes go into the sum as they are, in the order of the
// operand that they broadcast to.
TEST(LowerArithmetic, ConstantCodes) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%a: u8[2,3] q(s=0.5 z=128)) -> %y {
  %t = transpose(%a) : u8[3,2] q(s=0.5 z=128)
  %c = const i8[3,2] q(s=0.25 z=-3) [1,2,3,4,5,6]
  %y = add(%t, %c) : u8[3,2] q(s=0.5 z=100)
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  ASSERT_EQ(lowered.op(0).opcode, format_::Opcode::ADD2);
  const int c = lowered.op(0).inputs[1];
  EXPECT_EQ(lowered.tensor(c).shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(lowered.constant<int8_t>(c),
            (std::vector<int8_t>{1, 3, 5, 2, 4, 6}));
}

// Numbers that no one scale stands for: an index tensor and a table of pairs.
TEST(LowerArithmetic, ConstantNumbers) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%a: u8[3] q(s=0.5 z=128)) -> %y {
  %c = const f32[2,3] [1,-2.5,1,0,7,-0]
  %y = div(%c, %a) : i8[2,3] q(s=0.25 z=9) name "div"
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  ASSERT_EQ(lowered.op(0).opcode, format_::Opcode::TABLE_2);
  EXPECT_EQ(lowered.constant<uint8_t>(lowered.op(0).inputs[0]),
            (std::vector<uint8_t>{2, 0, 2, 1, 3, 1}));
  const auto table = lowered.constant<int8_t>(lowered.op(0).inputs[2]);
  ASSERT_EQ(table.size(), 65536u);
  EXPECT_EQ(table[2 * 256 + 128], 127);    // 1 / 0
  EXPECT_EQ(table[0 * 256 + 128], -128);   // -2.5 / 0
  EXPECT_EQ(table[1 * 256 + 128], 9);      // 0 / 0
  EXPECT_EQ(table[1 * 256 + 3], 9);        // 0 / x
  EXPECT_EQ(table[2 * 256 + 129], 17);     // 1 / 0.5 = 2
  EXPECT_EQ(table[0 * 256 + 136], 9 - 2);  // -2.5 / 4 = -0.625, a tie
  EXPECT_EQ(table[3 * 256 + 142], 9 + 4);  // 7 / 7
  EXPECT_NE(lowered.Text().find("warning[nan_reachable]: 'div'"),
            std::string::npos)
      << lowered.Text();
}

TEST(LowerArithmetic, QuotientsOfTwoValues) {
  const Lowered lowered = LowerText(Pair("div(%a, %b)"));
  ASSERT_TRUE(lowered.good) << lowered.Text();
  ASSERT_EQ(lowered.op(0).opcode, format_::Opcode::TABLE_2);
  const auto table = lowered.constant<uint8_t>(lowered.op(0).inputs[2]);
  // (a - 128) * 0.5 / ((b + 3) * 0.25) / 0.5 + 100
  EXPECT_EQ(table[130 * 256 + 128 - 3 + 4], 102);
  EXPECT_EQ(table[131 * 256 + 128 - 3 - 4], 97);
  EXPECT_EQ(table[131 * 256 + 128 - 3], 255);
  EXPECT_EQ(table[128 * 256 + 128 - 3], 100);
}

TEST(LowerArithmetic, TooManyNumbers) {
  std::string numbers = "0";
  for (int i = 1; i < 257; ++i) numbers += "," + std::to_string(i);
  ExpectFault(LowerText("fir 1 fused\ngraph @g(%a: u8[257] q(s=0.5 z=128)) -> "
                        "%y {\n%c = const f32[257] [" +
                        numbers +
                        "]\n%y = mul(%a, %c) : u8[257] q(s=0.5 z=100) name "
                        "\"product\"\n}"),
              DiagnosticCode::unsupported_operator, "product",
              "257 different numbers");
}

}  // namespace
}  // namespace fold
