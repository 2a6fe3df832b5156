#include "tests/golden/golden_file.h"

#include <gtest/gtest.h>

namespace fold::golden {
namespace {

const char* kFile =
    "# What this is about.\n"
    "# RUN: turn, fold\n"
    "\n"
    "# --- good\n"
    "fir 1 annotated\n"
    "graph  # a remark\n"
    "# CHECK: turned\n"
    "# CHECK-NOT: b\n"
    "\n"
    "# --- bad_one\n"
    "# RUN: parse\n"
    "fir\n"
    "# ERROR: wrong\n"
    "# REFUSED: turn: no\n";

std::vector<Block> Blocks(std::string_view file) {
  std::vector<Block> blocks;
  EXPECT_EQ(ReadBlocks(file, &blocks), "");
  return blocks;
}

TEST(GoldenFile, ReadsBlocks) {
  const auto blocks = Blocks(kFile);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].name, "good");
  EXPECT_EQ(blocks[0].passes, (std::vector<std::string>{"turn", "fold"}));
  EXPECT_FALSE(blocks[0].bad());
  ASSERT_EQ(blocks[0].checks.size(), 2u);
  EXPECT_EQ(blocks[0].checks[0].line, 7);
  EXPECT_EQ(blocks[0].checks[1].kind, Check::Kind::kNot);
  EXPECT_EQ(blocks[1].passes, std::vector<std::string>());
  EXPECT_TRUE(blocks[1].bad());
  EXPECT_EQ(blocks[1].errors[0].pattern, "wrong");
  EXPECT_EQ(blocks[1].refusals[0].pattern, "turn: no");
}

TEST(GoldenFile, TargetsForAllBlocksAndForOne) {
  const auto blocks = Blocks(
      "# RUN: turn\n# TARGET: a b!1\n# --- first\n# --- second\n"
      "# TARGET: c\n# --- third\n");
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].target, (std::vector<std::string>{"a", "b!1"}));
  EXPECT_EQ(blocks[1].target, (std::vector<std::string>{"c"}));
  EXPECT_EQ(blocks[2].target, blocks[0].target);
}

TEST(GoldenFile, PlacesInABlockArePlacesInTheFile) {
  const auto blocks = Blocks(kFile);
  const auto lines = SplitLines(blocks[1].graph);
  ASSERT_EQ(lines.size(), 14u);
  EXPECT_EQ(lines[11], "fir");
  EXPECT_EQ(SplitLines(blocks[0].graph)[4], "fir 1 annotated");
}

TEST(GoldenFile, WrongFilesAreFaults) {
  std::vector<Block> blocks;
  const auto fault = [&](const char* file) {
    return ReadBlocks(file, &blocks);
  };
  EXPECT_EQ(fault(""), "there is no block");
  EXPECT_EQ(fault("# --- a\n"), "line 1: no RUN line before this block");
  EXPECT_EQ(fault("# RUN:\n"), "line 1: RUN names no pass (`parse` for none)");
  EXPECT_EQ(fault("# RUN: a\nfir\n"), "line 2: a graph outside of a block");
  EXPECT_EQ(fault("# RUN: a\n# CHECK: x\n"),
            "line 2: an expectation outside of a block");
  EXPECT_EQ(fault("# RUN: a\n# --- a\n# --- a\n"),
            "line 3: a second block of this name");
  EXPECT_EQ(fault("# RUN: a\n# --- A b\n"),
            "line 2: a block's name is lower case letters, digits and _");
  EXPECT_EQ(fault("# RUN: a\n# --- a\n# CHECK-SAME: x\n"),
            "line 3: use CHECK:, CHECK-NEXT: or CHECK-NOT:");
}

TEST(GoldenFile, GoodBlocksMustSucceedAndCheck) {
  Block block;
  block.name = "good";
  EXPECT_EQ(Judge(block, {"x", {}, {}}), "there is no CHECK line");
  block.checks = {{Check::Kind::kAnywhere, "x", 1}};
  EXPECT_EQ(Judge(block, {"x", {}, {}}), "");
  EXPECT_NE(Judge(block, {"y", {}, {}}), "");
  EXPECT_NE(Judge(block, {"x", {"wrong"}, {}}), "");
  EXPECT_NE(Judge(block, {"x", {}, {"turn: no"}}), "");
  block.refusals = {{"turn: no", 2}};
  EXPECT_EQ(Judge(block, {"x", {}, {"turn: no"}}),
            "fails or is refused: name it bad_good");
}

TEST(GoldenFile, BadBlocksMustNameEachFault) {
  Block block;
  block.name = "bad_one";
  EXPECT_EQ(Judge(block, {"x", {}, {}}),
            "a bad_ block that neither fails nor is refused");
  EXPECT_NE(Judge(block, {"x", {"wrong"}, {}}), "");
  block.errors = {{"wro{{.}}g", 3}};
  EXPECT_EQ(Judge(block, {"x", {"all wrong"}, {}}), "");
  EXPECT_NE(Judge(block, {"x", {"right"}, {}}), "");
  EXPECT_NE(Judge(block, {"x", {"wrong", "worse"}, {}}), "");
  EXPECT_NE(Judge(block, {"x", {}, {}}), "");
  EXPECT_NE(Judge(block, {"x", {"wrong"}, {"turn: no"}}), "");
  block.checks = {{Check::Kind::kAnywhere, "y", 1}};
  EXPECT_NE(Judge(block, {"x", {"wrong"}, {}}), "");
}

TEST(GoldenFile, UpdateRewritesWhatDoesNotHold) {
  const auto blocks = Blocks(kFile);
  const std::vector<Outcome> outcomes = {{"one [[\n  two\n", {}, {}},
                                         {"", {"wrong"}, {"turn: no"}}};
  const std::string updated = Updated(kFile, blocks, outcomes);
  EXPECT_EQ(updated,
            "# What this is about.\n"
            "# RUN: turn, fold\n"
            "\n"
            "# --- good\n"
            "fir 1 annotated\n"
            "graph  # a remark\n"
            "# CHECK: one {{\\[}}{{\\[}}\n"
            "# CHECK-NEXT: two\n"
            "\n"
            "# --- bad_one\n"
            "# RUN: parse\n"
            "fir\n"
            "# ERROR: wrong\n"
            "# REFUSED: turn: no\n");
  const auto again = Blocks(updated);
  EXPECT_EQ(Judge(again[0], outcomes[0]), "");
  EXPECT_EQ(Updated(updated, again, outcomes), updated);
}

}  // namespace
}  // namespace fold::golden
