#include "compiler/ir/text_lexer.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace fold {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsWordByte(char c) { return IsLetter(c) || IsDigit(c); }

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// What of a long line is shown around a fault.
constexpr size_t kCaretBefore = 60, kCaretAfter = 40;

std::string Caret(std::string_view text, size_t line_start, size_t at) {
  const size_t line_end = std::min(text.find('\n', line_start), text.size());
  const bool cut = at - line_start > kCaretBefore;
  const size_t from = cut ? at - kCaretBefore : line_start;
  const size_t to = std::min(line_end, at + kCaretAfter);
  std::string shown(cut ? "..." : "");
  const size_t indent = shown.size() + at - from;
  for (char c : text.substr(from, to - from)) {
    shown += c < ' ' || c > '~' ? ' ' : c;
  }
  if (to < line_end) shown += "...";
  return shown + "\n" + std::string(indent, ' ') + "^";
}

}  // namespace

void TextLexer::Skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

size_t TextLexer::at() {
  Skip();
  return at_;
}

bool TextLexer::AtEnd() { return at() == text_.size(); }

bool TextLexer::Peek(char c) { return !AtEnd() && text_[at_] == c; }

bool TextLexer::PeekWord(std::string_view word) {
  Skip();
  if (text_.substr(at_, word.size()) != word) return false;
  const size_t end = at_ + word.size();
  return end == text_.size() || !IsWordByte(text_[end]);
}

bool TextLexer::PeekNumber() {
  if (AtEnd()) return false;
  return IsDigit(text_[at_]) || text_[at_] == '-' || PeekWord("inf") ||
         PeekWord("nan");
}

bool TextLexer::Take(std::string_view token) {
  Skip();
  if (failed_ || text_.substr(at_, token.size()) != token) return false;
  at_ += token.size();
  return true;
}

bool TextLexer::TakeWord(std::string_view word) {
  if (failed_ || !PeekWord(word)) return false;
  at_ += word.size();
  return true;
}

bool TextLexer::Expect(std::string_view token) {
  return Take(token) || Fail(at(), "expected '" + std::string(token) + "'");
}

bool TextLexer::ExpectWord(std::string_view word) {
  return TakeWord(word) || Fail(at(), "expected '" + std::string(word) + "'");
}

bool TextLexer::Word(std::string_view what, std::string_view* word) {
  const size_t start = at();
  if (failed_) return false;
  if (AtEnd() || !IsLetter(text_[start])) {
    return Fail(start, "expected " + std::string(what));
  }
  while (at_ < text_.size() && IsWordByte(text_[at_])) ++at_;
  *word = text_.substr(start, at_ - start);
  return true;
}

bool TextLexer::Name(std::string* name) {
  if (failed_) return false;
  const size_t start = at_;
  if (start < text_.size() && text_[start] == '"') return Quoted(name);
  while (at_ < text_.size() && (IsWordByte(text_[at_]) || text_[at_] == '.')) {
    ++at_;
  }
  if (at_ == start) return Fail(start, "expected a name");
  *name = text_.substr(start, at_ - start);
  return true;
}

bool TextLexer::Escape(std::string* text) {
  const size_t start = at_ - 1;
  const char c = at_ < text_.size() ? text_[at_++] : '\0';
  if (c == '"' || c == '\\') {
    *text += c;
  } else if (c == 'n') {
    *text += '\n';
  } else if (c == 't') {
    *text += '\t';
  } else if (c == 'x' && at_ + 2 <= text_.size() && HexValue(text_[at_]) >= 0 &&
             HexValue(text_[at_ + 1]) >= 0) {
    *text +=
        static_cast<char>(HexValue(text_[at_]) * 16 + HexValue(text_[at_ + 1]));
    at_ += 2;
  } else {
    return Fail(start, "unknown escape: use \\\" \\\\ \\n \\t or \\xHH");
  }
  return true;
}

bool TextLexer::Quoted(std::string* text) {
  const size_t start = at();
  if (failed_) return false;
  if (!Peek('"')) return Fail(start, "expected a text in quotes");
  text->clear();
  ++at_;
  while (at_ < text_.size() && text_[at_] != '\n') {
    const char c = text_[at_++];
    if (c == '"') return true;
    if (c != '\\') {
      *text += c;
    } else if (!Escape(text)) {
      return false;
    }
  }
  return Fail(start, "this text has no closing quote");
}

bool TextLexer::Number(NumberToken* token) {
  token->at = at();
  if (failed_) return false;
  if (!PeekNumber()) return Fail(token->at, "expected a number");
  token->integer = true;
  if (text_[at_] == '-') ++at_;
  if (at_ < text_.size() && IsLetter(text_[at_])) {
    if (!PeekWord("inf") && !PeekWord("nan")) {
      return Fail(token->at, "expected a number");
    }
    at_ += 3;
    token->integer = false;
  }
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const bool sign = (c == '-' || c == '+') &&
                      (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
    if (!IsDigit(c) && c != '.' && c != 'e' && c != 'E' && !sign) break;
    token->integer = token->integer && IsDigit(c);
    ++at_;
  }
  token->text = text_.substr(token->at, at_ - token->at);
  return true;
}

template <typename T>
bool TextLexer::Convert(const NumberToken& token, T* value) {
  if (failed_) return false;
  const char* end = token.text.data() + token.text.size();
  const auto result = std::from_chars(token.text.data(), end, *value);
  if (result.ec == std::errc::result_out_of_range) {
    return Fail(token.at, "this number is out of range");
  }
  if (result.ec != std::errc() || result.ptr != end) {
    return Fail(token.at, "this is no number of the type it must have");
  }
  return true;
}

bool TextLexer::ToInteger(const NumberToken& token, int64_t* value) {
  if (!token.integer) return Fail(token.at, "expected an integer");
  return Convert(token, value);
}

bool TextLexer::ToUnsigned(const NumberToken& token, uint64_t* value) {
  if (!token.integer) return Fail(token.at, "expected an integer");
  if (token.text[0] == '-') {
    return Fail(token.at, "this number is out of range");
  }
  return Convert(token, value);
}

bool TextLexer::ToReal(const NumberToken& token, double* value) {
  return Convert(token, value);
}

bool TextLexer::ToFloat(const NumberToken& token, float* value) {
  return Convert(token, value);
}

bool TextLexer::Integer(int64_t* value) {
  NumberToken token;
  return Number(&token) && ToInteger(token, value);
}

bool TextLexer::Real(double* value) {
  NumberToken token;
  return Number(&token) && ToReal(token, value);
}

bool TextLexer::HexBytes(std::vector<uint8_t>* bytes) {
  const size_t start = at();
  if (failed_) return false;
  if (!Peek('"')) return Fail(start, "expected hexadecimal digits in quotes");
  size_t end = start + 1;
  while (end < text_.size() && HexValue(text_[end]) >= 0) ++end;
  if (end == text_.size() || text_[end] != '"') {
    return Fail(end, "expected hexadecimal digits and a closing quote");
  }
  if ((end - start - 1) % 2 != 0) {
    return Fail(start, "a byte has two hexadecimal digits, this ends in one");
  }
  bytes->clear();
  bytes->reserve((end - start - 1) / 2);
  for (size_t i = start + 1; i < end; i += 2) {
    bytes->push_back(
        static_cast<uint8_t>(HexValue(text_[i]) * 16 + HexValue(text_[i + 1])));
  }
  at_ = end + 1;
  return true;
}

bool TextLexer::Fail(size_t at, std::string message) {
  if (failed_) return false;
  failed_ = true;
  at = std::min(at, text_.size());
  size_t line_start = 0;
  error_.line = 1;
  for (size_t i = 0; i < at; ++i) {
    if (text_[i] != '\n') continue;
    ++error_.line;
    line_start = i + 1;
  }
  error_.column = static_cast<int>(
      std::min<size_t>(at - line_start + 1, std::numeric_limits<int>::max()));
  error_.message = std::move(message);
  error_.caret = Caret(text_, line_start, at);
  return false;
}

}  // namespace fold
