#include "compiler/lower/table.h"

#include "compiler/lower/test_lowering.h"

namespace fold {
namespace {

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

TEST(LowerRequantize, SixteenBits) {
  const Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: u16[2] q(s=1 z=10)) -> %y {
  %y = requantize(%x) : u16[2] q(s=2 z=0) name "q"
})");
  ASSERT_TRUE(lowered.good) << lowered.Text();
  const auto table = lowered.constant<uint16_t>(lowered.op(0).inputs[1]);
  ASSERT_EQ(table.size(), 65536u);
  EXPECT_EQ(table[9], 0);
  EXPECT_EQ(table[13], 2);  // 1.5
  EXPECT_EQ(table[65535], 32762);
}

TEST(LowerRequantize, Faults) {
  ExpectFault(LowerText(R"(fir 1 fused
graph @g(%x: i32[2] q(s=1 z=0)) -> %y {
  %y = requantize(%x) : u8[2] q(s=2 z=0) name "q"
})"),
              DiagnosticCode::unsupported_operator, "q", "8 or 16 bits");
  // 16-bit tables for 257 channels.
  std::string numbers = "0";
  for (int i = 1; i < 257; ++i) numbers += "," + std::to_string(i);
  ExpectFault(
      LowerText("fir 1 fused\ngraph @g(%x: u16[1,257] q(s=1 z=0)) -> %y "
                "{\n%c = const f32[257] [" +
                numbers +
                "]\n%y = requantize(%x, %c) steps [multiply(1)] : "
                "u16[1,257] q(s=2 z=0) name \"q\"\n}"),
      DiagnosticCode::unsupported_operator, "q", "33685504 bytes");
}

std::string Reciprocal(const std::string& type, const std::string& constant) {
  return "fir 1 fused\ngraph @g(%x: " + type + ") -> %y {\n%c = const " +
         constant +
         "\n%y = scaled_reciprocal(%x, %c) : i8[1,2,3] q(s=0.5 z=1) name "
         "\"over\"\n}";
}

TEST(LowerReciprocal, SimplestFraction) {
  const Lowered lowered =
      LowerText(Reciprocal("u8[1,2,3] q(s=0.5 z=128)", "f32[] [10]"));
  ASSERT_TRUE(lowered.good) << lowered.Text();
  ASSERT_EQ(lowered.op(0).opcode, format_::Opcode::RECIPROCAL);
  const auto& p = *lowered.op(0).parameters.AsReciprocalParameters();
  EXPECT_EQ(p.input_zero, 128);
  EXPECT_EQ(p.zero, 1);
  EXPECT_EQ(p.axis, -1);
  // 10 / (0.5 d) / 0.5: ties at both sides leave 40 alone.
  EXPECT_EQ(p.numerators, (std::vector<int64_t>{40}));
  EXPECT_EQ(p.denominators, (std::vector<int64_t>{1}));
  EXPECT_EQ(lowered.sink.all().size(), 0u) << lowered.Text();
}

TEST(LowerReciprocal, OneFractionAChannelWhereItLies) {
  const Lowered lowered = LowerText(
      Reciprocal("i16[1,2,3] q(s=0.5 z=0)", "i8[2,1] q(s=3 z=1) [2,-1]"));
  ASSERT_TRUE(lowered.good) << lowered.Text();
  const auto& p = *lowered.op(0).parameters.AsReciprocalParameters();
  EXPECT_EQ(p.axis, 1);
  EXPECT_EQ(p.numerators.size(), 2u);
  EXPECT_GT(p.numerators[0], 0);
  EXPECT_LT(p.numerators[1], 0);
}

TEST(LowerReciprocal, TableWhereThereIsNoFraction) {
  const std::string added =
      "fir 1 fused\ngraph @g(%x: u8[3] q(s=0.5 z=128)) -> %y {\n"
      "%c = const f32[] [10]\n%b = const f32[] [0.3]\n"
      "%y = scaled_reciprocal(%x, %c, %b) steps [add(2)] : "
      "i8[3] q(s=0.5 z=1)\n}";
  EXPECT_EQ(LowerText(added).opcodes()[0], format_::Opcode::TABLE_1);
  EXPECT_EQ(LowerText(Reciprocal("u8[1,2,3] q(s=0.5 z=128)", "f32[] [10]"),
                      Without("reciprocal"))
                .opcodes()[0],
            format_::Opcode::TABLE_1);
}

// Zero over zero: a warning where range analysis cannot exclude it.
TEST(LowerReciprocal, WarnsOfNanWhereItCanCome) {
  const auto warns = [](const std::string& type) {
    const Lowered lowered = LowerText(Reciprocal(type, "f32[2,1] [3,-0]"));
    EXPECT_TRUE(lowered.good) << lowered.Text();
    return lowered.Text().find(
               "warning[nan_reachable]: 'over': code 128 of "
               "'x'") != std::string::npos;
  };
  EXPECT_TRUE(warns("u8[1,2,3] q(s=0.5 z=128)"));
  EXPECT_TRUE(warns("u8[1,2,3] q(s=0.5 z=128 codes=[0,128])"));
  EXPECT_FALSE(warns("u8[1,2,3] q(s=0.5 z=128 codes=[0,127])"));
  EXPECT_FALSE(warns("u8[1,2,3] q(s=0.5 z=128 codes=[129,255])"));
}

}  // namespace
}  // namespace fold
