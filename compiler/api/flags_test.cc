#include "compiler/api/flags.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FlagsTest : public testing::Test {
 protected:
  ParsedLine Parse(std::vector<std::string> line) {
    return ParseLine(line, flags_);
  }
  std::string text_;
  bool on_ = false;
  int64_t number_ = 0;
  std::vector<Flag> flags_ = {
      {"--text", "T", "some text", SetText(&text_)},
      {"-o", "FILE", "a file", SetText(&text_)},
      {"--on", "", "a switch", SetSwitch(&on_)},
      {"--number", "N", "a number", SetInteger(&number_, 1, 9)},
      {"--secret", "", "not shown", SetSwitch(&on_), true},
  };
};

TEST_F(FlagsTest, ReadsBothFormsAndPositionals) {
  ParsedLine line = Parse({"a", "--text=x=y", "--on", "--number", "7", "b"});
  EXPECT_EQ(line.error, "");
  EXPECT_THAT(line.positional, ElementsAre("a", "b"));
  EXPECT_EQ(text_, "x=y");
  EXPECT_TRUE(on_);
  EXPECT_EQ(number_, 7);
}

TEST_F(FlagsTest, ShortFlagsAndTheEndOfFlags) {
  ParsedLine line = Parse({"-o", "out", "--", "--on"});
  EXPECT_EQ(line.error, "");
  EXPECT_EQ(text_, "out");
  EXPECT_FALSE(on_);
  EXPECT_THAT(line.positional, ElementsAre("--on"));
}

TEST_F(FlagsTest, SaysWhatIsWrong) {
  EXPECT_THAT(Parse({"--txt", "x"}).error, HasSubstr("did you mean '--text'"));
  EXPECT_THAT(Parse({"--text"}).error, HasSubstr("needs a value"));
  EXPECT_THAT(Parse({"--text="}).error, HasSubstr("is empty"));
  EXPECT_THAT(Parse({"--on=1"}).error, HasSubstr("takes no value"));
  EXPECT_THAT(Parse({"--number", "10"}).error, HasSubstr("from 1 to 9"));
  EXPECT_THAT(Parse({"--number", "5x"}).error, HasSubstr("'5x'"));
}

TEST_F(FlagsTest, HelpHasEachFlagButTheHidden) {
  std::string help = FlagHelp(flags_);
  EXPECT_THAT(help, HasSubstr("--number N"));
  EXPECT_THAT(help, HasSubstr("a switch"));
  EXPECT_THAT(help, testing::Not(HasSubstr("--secret")));
}

}  // namespace
}  // namespace fold
