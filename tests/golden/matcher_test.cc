#include "tests/golden/matcher.h"

#include <gtest/gtest.h>

namespace fold::golden {
namespace {

constexpr Check::Kind kAnywhere = Check::Kind::kAnywhere;
constexpr Check::Kind kNext = Check::Kind::kNext;
constexpr Check::Kind kNot = Check::Kind::kNot;

const char* kText =
    "graph @main {\n"
    "  %a = const i8[1] [1]\n"
    "  %b = matmul(%x, %a)\n"
    "  %c = relu(%b)\n"
    "}\n";

bool Holds(const std::vector<Check>& checks) {
  return MatchChecks(checks, kText).empty();
}

TEST(Matcher, FindsPartsOfLinesInOrder) {
  EXPECT_TRUE(Holds({{kAnywhere, "const"}, {kAnywhere, "relu(%b)"}}));
  EXPECT_FALSE(Holds({{kAnywhere, "relu(%b)"}, {kAnywhere, "const"}}));
  EXPECT_FALSE(Holds({{kAnywhere, "conv"}}));
}

TEST(Matcher, OneLineServesOneCheck) {
  EXPECT_FALSE(Holds({{kAnywhere, "relu"}, {kAnywhere, "%b"}}));
}

TEST(Matcher, NextIsTheWholeNextLine) {
  EXPECT_TRUE(Holds({{kAnywhere, "graph"}, {kNext, "%a = const i8[1] [1]"}}));
  EXPECT_FALSE(Holds({{kAnywhere, "graph"}, {kNext, "%a = const i8[1]"}}));
  EXPECT_FALSE(Holds({{kAnywhere, "graph"}, {kNext, "%c = relu(%b)"}}));
  EXPECT_FALSE(Holds({{kNext, "graph @main {"}}));
  EXPECT_FALSE(Holds({{kAnywhere, "}"}, {kAnywhere, "}"}, {kNext, "}"}}));
}

TEST(Matcher, NotLooksBetweenItsNeighbours) {
  EXPECT_TRUE(
      Holds({{kAnywhere, "const"}, {kNot, "relu"}, {kAnywhere, "matmul"}}));
  EXPECT_FALSE(
      Holds({{kAnywhere, "const"}, {kNot, "matmul"}, {kAnywhere, "relu"}}));
  EXPECT_FALSE(Holds({{kAnywhere, "const"}, {kNot, "relu"}}));
  EXPECT_TRUE(Holds({{kNot, "conv"}}));
  EXPECT_FALSE(Holds({{kNot, "graph"}}));
}

TEST(Matcher, CapturesAreTheSameTextLater) {
  EXPECT_TRUE(Holds({{kAnywhere, "%[[W:.*]] = const"},
                     {kNext, "%[[M:[a-z]]] = matmul(%{{.*}}, %[[W]])"},
                     {kNext, "%c = relu(%[[M]])"}}));
  EXPECT_FALSE(
      Holds({{kAnywhere, "%[[W:.*]] = const"}, {kAnywhere, "relu(%[[W]])"}}));
  EXPECT_FALSE(Holds({{kAnywhere, "relu(%[[W]])"}}));
}

TEST(Matcher, GroupsInsideAreNotMistakenForCaptures) {
  Captures captures;
  std::string fault;
  EXPECT_TRUE(
      MatchPattern("{{(a)(b)}}[[C:(c|d)+]]", "abcdc", true, &captures, &fault));
  EXPECT_EQ(captures["C"], "cdc");
}

TEST(Matcher, WrongPatternsAreFaults) {
  for (const char* pattern : {"{{(}}", "[[A:", "[[:x]]", "[[A B:x]]", "  "}) {
    EXPECT_NE(MatchChecks({{kAnywhere, pattern, 7}}, kText).find("line 7"),
              std::string::npos)
        << pattern;
    EXPECT_FALSE(Holds({{kNot, pattern}})) << pattern;
  }
}

TEST(Matcher, LiteralPatternsMatchExactly) {
  for (const char* text : {"a[[b]]", "{{.*}}", "[[[x", "{{}", "[[]]]", "{{}}}",
                           "{[[", "{{{", "i8[1] {a=[1]}"}) {
    Captures captures;
    std::string fault;
    EXPECT_TRUE(
        MatchPattern(LiteralPattern(text), text, true, &captures, &fault))
        << text << " " << fault;
    EXPECT_FALSE(MatchPattern(LiteralPattern(text), std::string(text) + "x",
                              true, &captures, &fault));
  }
}

TEST(Matcher, SaysWhereItLooked) {
  const std::string fault =
      MatchChecks({{kAnywhere, "const", 3}, {kAnywhere, "conv", 4}}, kText);
  EXPECT_EQ(fault,
            "line 4: CHECK: conv\n  not found\n"
            "  looked from:   %b = matmul(%x, %a)");
}

}  // namespace
}  // namespace fold::golden
