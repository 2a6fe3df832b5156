// Holds a printed text against CHECK lines.
//
//   CHECK: pattern       some line below the last match contains the pattern
//   CHECK-NEXT: pattern  the very next line is the pattern, from its first
//                        character that is no blank to its last
//   CHECK-NOT: pattern   no line between the matches around it contains it
//
// Blanks at both ends of lines and patterns do not count. A pattern is plain
// text but for
//   {{regex}}        a regular expression (ECMAScript)
//   [[NAME:regex]]   the same, and what it matched is kept under the name
//   [[NAME]]         what was kept
#ifndef FOLD_TESTS_GOLDEN_MATCHER_H_
#define FOLD_TESTS_GOLDEN_MATCHER_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fold::golden {

struct Check {
  enum class Kind { kAnywhere, kNext, kNot };
  Kind kind = Kind::kAnywhere;
  std::string pattern;
  int line = 0;  // in the file, for messages
};

// What the names of patterns stand for.
using Captures = std::map<std::string, std::string>;

// True if `pattern` matches within `text` (one line), or all of it if `whole`.
// Adds to `captures` when it matches. Returns false and sets `fault` if the
// pattern itself is wrong.
bool MatchPattern(std::string_view pattern, std::string_view text, bool whole,
                  Captures* captures, std::string* fault);

// "" if all checks hold on the lines of `text`; else the first that does not,
// with the place where it was looked for.
std::string MatchChecks(const std::vector<Check>& checks,
                        std::string_view text);

// A pattern that matches exactly `text`.
std::string LiteralPattern(std::string_view text);

// `text` without blanks at its ends; `text` as lines without their ends.
std::string_view Trim(std::string_view text);
std::vector<std::string_view> SplitLines(std::string_view text);

}  // namespace fold::golden

#endif  // FOLD_TESTS_GOLDEN_MATCHER_H_
