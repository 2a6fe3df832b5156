#include "tests/golden/matcher.h"

#include <algorithm>
#include <regex>
#include <utility>

namespace fold::golden {
namespace {

// The regular expressions of the standard library recurse for each character.
constexpr size_t kMostRegexLine = 4096;

struct Piece {
  enum class Kind { kLiteral, kRegex, kDefine };
  Kind kind;
  std::string text;
  std::string name;  // kDefine
};

bool IsName(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
             "_") == std::string_view::npos;
}

// The pieces of a pattern, names replaced by what they stand for.
bool SplitPattern(std::string_view pattern, const Captures& captures,
                  std::vector<Piece>* pieces, std::string* fault) {
  while (!pattern.empty()) {
    const size_t open = std::min(pattern.find("{{"), pattern.find("[["));
    if (open != 0) {
      pieces->push_back(
          {Piece::Kind::kLiteral, std::string(pattern.substr(0, open)), ""});
      pattern.remove_prefix(std::min(open, pattern.size()));
      continue;
    }
    const bool regex = pattern[0] == '{';
    const char end = regex ? '}' : ']';
    size_t close = pattern.find(regex ? "}}" : "]]", 2);
    if (close == std::string_view::npos) {
      *fault = "a {{ or [[ is not closed";
      return false;
    }
    // The last two of a run close, the others belong to the expression.
    while (close + 2 < pattern.size() && pattern[close + 2] == end) ++close;
    const std::string_view inside = pattern.substr(2, close - 2);
    pattern.remove_prefix(close + 2);
    if (regex) {
      pieces->push_back({Piece::Kind::kRegex, std::string(inside), ""});
      continue;
    }
    const size_t colon = inside.find(':');
    const std::string name(inside.substr(0, colon));
    if (!IsName(name)) {
      *fault = "'" + name + "' is no name";
      return false;
    }
    if (colon != std::string_view::npos) {
      pieces->push_back(
          {Piece::Kind::kDefine, std::string(inside.substr(colon + 1)), name});
      continue;
    }
    const auto known = captures.find(name);
    if (known == captures.end()) {
      *fault = "nothing has been captured as " + name;
      return false;
    }
    pieces->push_back({Piece::Kind::kLiteral, known->second, ""});
  }
  return true;
}

std::string EscapeRegex(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

bool MatchRegex(const std::vector<Piece>& pieces, const std::string& text,
                bool whole, Captures* captures) {
  std::string source;
  unsigned groups = 0;
  std::vector<std::pair<std::string, unsigned>> defined;
  for (const Piece& piece : pieces) {
    if (piece.kind == Piece::Kind::kLiteral) {
      source += EscapeRegex(piece.text);
      continue;
    }
    ++groups;
    source += "(" + piece.text + ")";
    if (piece.kind == Piece::Kind::kDefine) {
      defined.emplace_back(piece.name, groups);
    }
    groups += std::regex(piece.text).mark_count();
  }
  std::smatch match;
  const std::regex regex(source);
  if (!(whole ? std::regex_match(text, match, regex)
              : std::regex_search(text, match, regex))) {
    return false;
  }
  for (const auto& [name, group] : defined) (*captures)[name] = match[group];
  return true;
}

// Walks the lines of a text, check by check.
class Walk {
 public:
  explicit Walk(std::string_view text) : lines_(SplitLines(text)) {}

  std::string Step(const Check& check) {
    if (check.kind == Check::Kind::kNot) {
      nots_.push_back(check);
      return "";
    }
    const bool next = check.kind == Check::Kind::kNext;
    if (next && !matched_) return Fault(check, "there is no match before it");
    if (next && !nots_.empty()) {
      return Fault(nots_[0], "nothing can stand before a CHECK-NEXT");
    }
    const size_t end = next ? std::min(at_ + 1, lines_.size()) : lines_.size();
    std::string fault;
    for (size_t i = at_; i < end; ++i) {
      if (MatchPattern(check.pattern, lines_[i], next, &captures_, &fault)) {
        return Advance(i);
      }
      if (!fault.empty()) return Fault(check, fault);
    }
    return Fault(check, next ? "the next line is not this" : "not found");
  }

  std::string Finish() { return CheckNots(lines_.size()); }

 private:
  std::string Advance(size_t line) {
    std::string fault = CheckNots(line);
    at_ = line + 1;
    matched_ = true;
    return fault;
  }

  std::string CheckNots(size_t end) {
    for (const Check& check : nots_) {
      std::string fault;
      for (size_t i = at_; i < end; ++i) {
        Captures scratch = captures_;
        if (MatchPattern(check.pattern, lines_[i], false, &scratch, &fault)) {
          return Fault(check, "found in: " + std::string(lines_[i]));
        }
        if (!fault.empty()) return Fault(check, fault);
      }
    }
    nots_.clear();
    return "";
  }

  std::string Fault(const Check& check, const std::string& what) const {
    constexpr const char* kWords[] = {"CHECK", "CHECK-NEXT", "CHECK-NOT"};
    return "line " + std::to_string(check.line) + ": " +
           kWords[static_cast<int>(check.kind)] + ": " + check.pattern +
           "\n  " + what + "\n  looked from: " +
           (at_ < lines_.size() ? std::string(lines_[at_]) : "the end");
  }

  std::vector<std::string_view> lines_;
  size_t at_ = 0;
  bool matched_ = false;
  Captures captures_;
  std::vector<Check> nots_;
};

}  // namespace

std::string_view Trim(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t\r");
  if (from == std::string_view::npos) return "";
  return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool MatchPattern(std::string_view pattern, std::string_view text, bool whole,
                  Captures* captures, std::string* fault) {
  pattern = Trim(pattern);
  text = Trim(text);
  std::vector<Piece> pieces;
  if (pattern.empty()) *fault = "the pattern is empty";
  if (pattern.empty() || !SplitPattern(pattern, *captures, &pieces, fault)) {
    return false;
  }
  std::string literal;
  bool plain = true;
  for (const Piece& piece : pieces) {
    plain = plain && piece.kind == Piece::Kind::kLiteral;
    literal += piece.text;
  }
  if (plain) {
    return whole ? text == literal
                 : text.find(literal) != std::string_view::npos;
  }
  if (text.size() > kMostRegexLine) return false;
  try {
    return MatchRegex(pieces, std::string(text), whole, captures);
  } catch (const std::regex_error&) {
    *fault = "this is no regular expression";
    return false;
  }
}

std::string MatchChecks(const std::vector<Check>& checks,
                        std::string_view text) {
  Walk walk(text);
  for (const Check& check : checks) {
    std::string fault = walk.Step(check);
    if (!fault.empty()) return fault;
  }
  return walk.Finish();
}

std::string LiteralPattern(std::string_view text) {
  const auto opens = [](char c) { return c == '{' || c == '['; };
  text = Trim(text);
  std::string pattern;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // Two in a row would open an expression.
    const bool near = (i > 0 && opens(text[i - 1])) ||
                      (i + 1 < text.size() && opens(text[i + 1]));
    if (opens(c) && near) {
      pattern += std::string("{{\\") + c + "}}";
    } else {
      pattern += c;
    }
  }
  return pattern;
}

}  // namespace fold::golden
