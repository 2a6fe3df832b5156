// A golden file: blocks of a graph, the passes to run on it, and what must come
// of it.
//
//   # RUN: pass[,pass…]      for all blocks below; in a block, for it alone.
//                            `parse` alone runs no pass.
//   # TARGET: kind[!i] …     the op table of the target that passes see; kind!1
//                            wants a constant as operand 1. For all blocks
//                            below or one, as RUN; without it, no target.
//   # --- name               starts a block
//   fir 1 annotated …        the graph
//   # CHECK: …               held against the printed graph and, behind it, the
//                            migration sheets (matcher.h)
//   # ERROR: pattern         a fault of parsing or of a pass
//   # REFUSED: pattern       "rule: reason" of a rewrite that was refused
//
// A block's name starts with bad_ exactly when it must fail or be refused. A
// bad block names each of its faults and refusals, in order; a good block has
// neither, and has at least one CHECK.
#ifndef FOLD_TESTS_GOLDEN_GOLDEN_FILE_H_
#define FOLD_TESTS_GOLDEN_GOLDEN_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "tests/golden/matcher.h"

namespace fold::golden {

struct Expected {
  std::string pattern;
  int line = 0;
};

struct Block {
  std::string name;
  int first_line = 0;               // of the file, from 1: its `# ---` line
  int end_line = 0;                 // one behind its last
  std::vector<std::string> passes;  // none: parse alone
  std::vector<std::string> target;  // rows of its op table; none: no target
  // As many lines as the block, so that places in it are places in the file.
  std::string graph;
  std::vector<Check> checks;
  std::vector<Expected> errors, refusals;

  bool bad() const { return name.rfind("bad_", 0) == 0; }
};

// What running a block gave.
struct Outcome {
  std::string text;                   // empty if a fault left nothing
  std::vector<std::string> errors;    // one line each
  std::vector<std::string> refusals;  // "rule: reason"
  std::string place;                  // of a parse error, for people
};

// Reads the blocks; "" or what is wrong with the file.
std::string ReadBlocks(std::string_view file, std::vector<Block>* blocks);

// "" if the outcome is what the block expects.
std::string Judge(const Block& block, const Outcome& outcome);

// The file with the expectations of those blocks replaced whose outcome is not
// what they expect; the lines of the others stay as they are.
std::string Updated(std::string_view file, const std::vector<Block>& blocks,
                    const std::vector<Outcome>& outcomes);

}  // namespace fold::golden

#endif  // FOLD_TESTS_GOLDEN_GOLDEN_FILE_H_
