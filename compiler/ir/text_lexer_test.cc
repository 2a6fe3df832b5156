#include "compiler/ir/text_lexer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fold {
namespace {

TEST(TextLexer, SkipsBlanksAndComments) {
  TextLexer lexer("  # a comment\n\t%x # more\n ->");
  std::string name;
  EXPECT_TRUE(lexer.Expect("%"));
  EXPECT_TRUE(lexer.Name(&name));
  EXPECT_EQ(name, "x");
  EXPECT_TRUE(lexer.Expect("->"));
  EXPECT_TRUE(lexer.AtEnd());
}

TEST(TextLexer, WordsEndAtWordBoundaries) {
  TextLexer lexer("constant");
  EXPECT_FALSE(lexer.TakeWord("const"));
  EXPECT_TRUE(lexer.TakeWord("constant"));
}

TEST(TextLexer, ReadsEscapes) {
  TextLexer lexer("\"a\\\"\\\\\\n\\t\\xff\"");
  std::string text;
  ASSERT_TRUE(lexer.Quoted(&text));
  EXPECT_EQ(text, "a\"\\\n\t\xff");
}

TEST(TextLexer, ReadsNumbers) {
  TextLexer lexer("-9223372036854775808 1e-5 -inf nan 7");
  int64_t integer = 0;
  double real = 0;
  EXPECT_TRUE(lexer.Integer(&integer));
  EXPECT_EQ(integer, INT64_MIN);
  EXPECT_TRUE(lexer.Real(&real));
  EXPECT_EQ(real, 1e-5);
  EXPECT_TRUE(lexer.Real(&real));
  EXPECT_EQ(real, -INFINITY);
  EXPECT_TRUE(lexer.Real(&real));
  EXPECT_TRUE(std::isnan(real));
  EXPECT_TRUE(lexer.Real(&real));
  EXPECT_EQ(real, 7);
}

TEST(TextLexer, RefusesNumbersThatDoNotFit) {
  const auto integer_fault = [](const char* text) {
    TextLexer lexer(text);
    int64_t value = 0;
    EXPECT_FALSE(lexer.Integer(&value)) << text;
    return lexer.error().message;
  };
  EXPECT_EQ(integer_fault("9223372036854775808"),
            "this number is out of range");
  EXPECT_EQ(integer_fault("1.5"), "expected an integer");
  EXPECT_EQ(integer_fault("x"), "expected a number");
  EXPECT_EQ(integer_fault("-"), "this is no number of the type it must have");
  TextLexer real("1e999"), infix("1.2.3"), minus("-x");
  double value = 0;
  EXPECT_FALSE(real.Real(&value));
  EXPECT_FALSE(infix.Real(&value));
  EXPECT_FALSE(minus.Real(&value));
}

TEST(TextLexer, ReadsHexBytes) {
  std::vector<uint8_t> bytes;
  EXPECT_TRUE(TextLexer("\"00fFa1\"").HexBytes(&bytes));
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0, 0xff, 0xa1}));
  EXPECT_FALSE(TextLexer("\"00f\"").HexBytes(&bytes));
  EXPECT_FALSE(TextLexer("\"0g\"").HexBytes(&bytes));
  EXPECT_FALSE(TextLexer("\"00").HexBytes(&bytes));
}

TEST(TextLexer, KeepsTheFirstErrorWithItsPlace) {
  TextLexer lexer("ab\n  cd \xff");
  std::string_view word;
  ASSERT_TRUE(lexer.Word("a word", &word));
  EXPECT_FALSE(lexer.Expect(","));
  EXPECT_FALSE(lexer.Expect(";"));
  EXPECT_EQ(lexer.error().line, 2);
  EXPECT_EQ(lexer.error().column, 3);
  EXPECT_EQ(lexer.error().message, "expected ','");
  EXPECT_EQ(lexer.error().caret, "  cd  \n  ^");
}

TEST(TextLexer, NothingIsReadAfterAFailure) {
  TextLexer lexer("x y");
  EXPECT_FALSE(lexer.Expect(","));
  std::string_view word;
  EXPECT_FALSE(lexer.Word("a word", &word));
  EXPECT_FALSE(lexer.Take("x"));
}

TEST(TextLexer, LongLinesAreCutAroundTheCaret) {
  const std::string text = std::string(500, 'a') + "!" + std::string(500, 'b');
  TextLexer lexer(text);
  EXPECT_FALSE(lexer.Fail(500, "here"));
  EXPECT_EQ(lexer.error().column, 501);
  EXPECT_EQ(lexer.error().caret, "..." + std::string(60, 'a') + "!" +
                                     std::string(39, 'b') + "...\n" +
                                     std::string(63, ' ') + "^");
}

}  // namespace
}  // namespace fold
