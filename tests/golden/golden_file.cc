#include "tests/golden/golden_file.h"

#include <algorithm>
#include <optional>
#include <set>

namespace fold::golden {
namespace {

// What follows `mark` on a comment line "# mark…", if it is one.
std::optional<std::string_view> Directive(std::string_view line,
                                          std::string_view mark) {
  line = Trim(line);
  if (line.empty() || line[0] != '#') return std::nullopt;
  line = Trim(line.substr(1));
  if (line.substr(0, mark.size()) != mark) return std::nullopt;
  return Trim(line.substr(mark.size()));
}

bool IsExpectation(std::string_view line) {
  return Directive(line, "CHECK") || Directive(line, "ERROR:") ||
         Directive(line, "REFUSED:");
}

std::vector<std::string> SplitBlanks(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const size_t blank = std::min(list.find(' '), list.size());
    if (blank > 0) words.emplace_back(list.substr(0, blank));
    list.remove_prefix(std::min(blank + 1, list.size()));
  }
  return words;
}

std::vector<std::string> SplitPasses(std::string_view list) {
  std::vector<std::string> passes;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view pass = Trim(list.substr(0, comma));
    if (!pass.empty() && pass != "parse") passes.emplace_back(pass);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return passes;
}

class Reader {
 public:
  explicit Reader(std::vector<Block>* blocks) : blocks_(*blocks) {}

  std::string Run(std::string_view file) {
    for (std::string_view line : SplitLines(file)) {
      ++number_;
      const std::string fault = ReadLine(line);
      if (!fault.empty()) {
        return "line " + std::to_string(number_) + ": " + fault;
      }
    }
    ++number_;
    CloseBlock();
    return blocks_.empty() ? "there is no block" : "";
  }

 private:
  std::string ReadLine(std::string_view line) {
    if (const auto name = Directive(line, "---")) return OpenBlock(*name);
    if (const auto run = Directive(line, "RUN:")) {
      if (run->empty()) return "RUN names no pass (`parse` for none)";
      has_run_ = true;
      (blocks_.empty() ? passes_ : blocks_.back().passes) = SplitPasses(*run);
    } else if (const auto target = Directive(line, "TARGET:")) {
      (blocks_.empty() ? target_ : blocks_.back().target) =
          SplitBlanks(*target);
    } else if (blocks_.empty()) {
      const std::string_view text = Trim(line);
      if (!text.empty() && text[0] != '#') return "a graph outside of a block";
      if (IsExpectation(line)) return "an expectation outside of a block";
      return "";
    } else if (IsExpectation(line)) {
      return ReadExpectation(line);
    }
    if (!blocks_.empty()) AddText(line);
    return "";
  }

  // Comments are left to the parser, which skips them.
  void AddText(std::string_view line) {
    blocks_.back().graph += std::string(line) + "\n";
  }

  std::string OpenBlock(std::string_view name) {
    CloseBlock();
    if (!has_run_) return "no RUN line before this block";
    const bool plain =
        !name.empty() &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
            std::string_view::npos;
    if (!plain) return "a block's name is lower case letters, digits and _";
    if (!names_.insert(std::string(name)).second) {
      return "a second block of this name";
    }
    Block block;
    block.name = name;
    block.first_line = number_;
    block.passes = passes_;
    block.target = target_;
    block.graph = std::string(number_ - 1, '\n') + "\n";
    blocks_.push_back(block);
    return "";
  }

  void CloseBlock() {
    if (!blocks_.empty()) blocks_.back().end_line = number_;
  }

  std::string ReadExpectation(std::string_view line) {
    AddText("");
    Block& block = blocks_.back();
    if (const auto error = Directive(line, "ERROR:")) {
      block.errors.push_back({std::string(*error), number_});
    } else if (const auto refusal = Directive(line, "REFUSED:")) {
      block.refusals.push_back({std::string(*refusal), number_});
    } else if (const auto next = Directive(line, "CHECK-NEXT:")) {
      AddCheck(Check::Kind::kNext, *next);
    } else if (const auto no = Directive(line, "CHECK-NOT:")) {
      AddCheck(Check::Kind::kNot, *no);
    } else if (const auto check = Directive(line, "CHECK:")) {
      AddCheck(Check::Kind::kAnywhere, *check);
    } else {
      return "use CHECK:, CHECK-NEXT: or CHECK-NOT:";
    }
    return "";
  }

  void AddCheck(Check::Kind kind, std::string_view pattern) {
    blocks_.back().checks.push_back({kind, std::string(pattern), number_});
  }

  std::vector<Block>& blocks_;
  std::vector<std::string> passes_, target_;
  bool has_run_ = false;
  std::set<std::string> names_;
  int number_ = 0;
};

// Each line must match its pattern, and there is one of each.
std::string JudgeLines(const char* word, const std::vector<Expected>& expected,
                       const std::vector<std::string>& lines) {
  for (size_t i = 0; i < std::max(expected.size(), lines.size()); ++i) {
    if (i >= expected.size()) {
      return std::string("no line expects this ") + word + ": " + lines[i];
    }
    const std::string where = "line " + std::to_string(expected[i].line) +
                              ": " + word + ": " + expected[i].pattern;
    if (i >= lines.size()) return where + "\n  there is none";
    Captures captures;
    std::string fault;
    if (!MatchPattern(expected[i].pattern, lines[i], false, &captures,
                      &fault)) {
      return where + "\n  " + (fault.empty() ? "is: " + lines[i] : fault);
    }
  }
  return "";
}

std::vector<std::string> Expectations(const Outcome& outcome) {
  std::vector<std::string> lines;
  bool first = true;
  for (std::string_view line : SplitLines(outcome.text)) {
    lines.push_back((first ? "# CHECK: " : "# CHECK-NEXT: ") +
                    LiteralPattern(line));
    first = false;
  }
  for (const std::string& error : outcome.errors) {
    lines.push_back("# ERROR: " + LiteralPattern(error));
  }
  for (const std::string& refusal : outcome.refusals) {
    lines.push_back("# REFUSED: " + LiteralPattern(refusal));
  }
  return lines;
}

// The block's own lines without expectations, blank lines at its end apart.
void AppendUpdated(const std::vector<std::string_view>& lines, int from,
                   int end, const Outcome& outcome, std::string* text) {
  int last = end;
  while (last > from && Trim(lines[last - 1]).empty()) --last;
  for (int i = from; i < last; ++i) {
    if (!IsExpectation(lines[i])) *text += std::string(lines[i]) + "\n";
  }
  for (const std::string& line : Expectations(outcome)) *text += line + "\n";
  text->append(end - last, '\n');
}

}  // namespace

std::string ReadBlocks(std::string_view file, std::vector<Block>* blocks) {
  blocks->clear();
  return Reader(blocks).Run(file);
}

std::string Judge(const Block& block, const Outcome& outcome) {
  std::string fault = JudgeLines("ERROR", block.errors, outcome.errors);
  if (fault.empty()) {
    fault = JudgeLines("REFUSED", block.refusals, outcome.refusals);
  }
  if (!fault.empty()) return fault;
  const bool failed = !outcome.errors.empty() || !outcome.refusals.empty();
  if (block.bad() && !failed)
    return "a bad_ block that neither fails nor is refused";
  if (!block.bad() && failed)
    return "fails or is refused: name it bad_" + block.name;
  if (!block.bad() && block.checks.empty()) return "there is no CHECK line";
  return MatchChecks(block.checks, outcome.text);
}

std::string Updated(std::string_view file, const std::vector<Block>& blocks,
                    const std::vector<Outcome>& outcomes) {
  const std::vector<std::string_view> lines = SplitLines(file);
  std::string text;
  int at = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (Judge(blocks[i], outcomes[i]).empty()) continue;
    const int from = blocks[i].first_line - 1, end = blocks[i].end_line - 1;
    for (; at < from; ++at) text += std::string(lines[at]) + "\n";
    AppendUpdated(lines, from, end, outcomes[i], &text);
    at = end;
  }
  for (; at < static_cast<int>(lines.size()); ++at) {
    text += std::string(lines[at]) + "\n";
  }
  return text;
}

}  // namespace fold::golden
