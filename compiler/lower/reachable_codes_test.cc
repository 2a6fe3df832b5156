#include "compiler/lower/reachable_codes.h"

#include <gtest/gtest.h>

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

// The codes of %y as text.
std::string Reachable(const std::string& nodes) {
  const Graph graph = GraphOf(
      "fir 1 fused\ngraph @g(%x: u8[2] q(s=0.5 z=100), %n: u8[2] q(s=0.5 z=100 "
      "codes=[3,9])) -> %y {\n" +
      nodes + "\n}");
  const CodeInterval codes = ReachableCodes(graph, graph.FindValue("y"));
  return std::to_string(codes.low) + ".." + std::to_string(codes.high);
}

TEST(ReachableCodes, OfTypesAndEncodings) {
  EXPECT_EQ(Reachable("%y = requantize(%x) : u8[2] q(s=1 z=7)"), "0..255");
  EXPECT_EQ(Reachable("%y = requantize(%x) : i8[2] q(s=1 z=7)"), "-128..127");
  EXPECT_EQ(Reachable("%y = requantize(%x) : u8[2] q(s=1 z=7 codes=[1,15])"),
            "1..15");
}

TEST(ReachableCodes, OfTheLastClamp) {
  EXPECT_EQ(Reachable("%y = requantize(%x) steps [clip(0, inf)] : u8[2] q(s=1 "
                      "z=7)"),
            "7..255");
  EXPECT_EQ(Reachable("%y = requantize(%x) steps [clip(1.5, 6)] : u8[2] q(s=1 "
                      "z=7)"),
            "9..13");
  // Another rounding may go one further.
  EXPECT_EQ(Reachable("%y = requantize(%x) steps [clip(1.5, 6)] : u8[2] q(s=1 "
                      "z=7 rounding=floor)"),
            "8..14");
  EXPECT_EQ(Reachable("%f = const f32[] [2]\n%y = requantize(%x, %f) steps "
                      "[clip(1, 6), multiply(1)] : u8[2] q(s=1 z=7)"),
            "0..255");
  EXPECT_EQ(Reachable("%y = requantize(%x) steps [clip(1000, 2000)] : u8[2] "
                      "q(s=1 z=7)"),
            "255..255");
}

TEST(ReachableCodes, ThroughMovement) {
  EXPECT_EQ(Reachable("%y = transpose(%n) : u8[2] q(s=0.5 z=100)"), "3..9");
  EXPECT_EQ(Reachable("%y = identity(%n) : u8[2] q(s=2 z=0 codes=[5,50])"),
            "5..9");
  EXPECT_EQ(Reachable("%y = quantize_linear(%n, %n) : u8[2] q(s=2 z=0)"),
            "0..255");
}

}  // namespace
}  // namespace fold
