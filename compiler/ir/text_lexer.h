// Reads the tokens of the text form from left to right. Blanks and comments
// (`#` to the end of the line) separate tokens. The first failure is kept, with
// its place; every reader returns false from then on.
#ifndef FOLD_COMPILER_IR_TEXT_LEXER_H_
#define FOLD_COMPILER_IR_TEXT_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/text.h"

namespace fold {

// A number as written; which type it becomes is the reader's choice.
struct NumberToken {
  std::string_view text;
  size_t at = 0;
  // Digits with an optional minus, nothing else.
  bool integer = false;
};

class TextLexer {
 public:
  explicit TextLexer(std::string_view text) : text_(text) {}

  // Where the next token starts.
  size_t at();
  bool AtEnd();
  // True if the next token starts with `c`; nothing is read.
  bool Peek(char c);
  bool PeekWord(std::string_view word);
  bool PeekNumber();
  // Reads `token` if it is next. Punctuation, not words.
  bool Take(std::string_view token);
  bool TakeWord(std::string_view word);

  // These fail, with an error, if something else is next.
  bool Expect(std::string_view token);
  bool ExpectWord(std::string_view word);
  // Letters, digits and `_`, first no digit; `what` names it in the error.
  bool Word(std::string_view what, std::string_view* word);
  // A plain name or a quoted one, directly behind its sigil.
  bool Name(std::string* name);
  // A text in double quotes.
  bool Quoted(std::string* text);
  bool Number(NumberToken* token);
  bool Integer(int64_t* value);
  bool Real(double* value);

  // Values of a number read before; errors are placed at the number.
  bool ToInteger(const NumberToken& token, int64_t* value);
  bool ToUnsigned(const NumberToken& token, uint64_t* value);
  bool ToReal(const NumberToken& token, double* value);
  // Rounds once, to a float.
  bool ToFloat(const NumberToken& token, float* value);

  // Bytes as pairs of hexadecimal digits between two quotes.
  bool HexBytes(std::vector<uint8_t>* bytes);

  // Records the error at `at` unless there is one already; returns false.
  bool Fail(size_t at, std::string message);
  bool failed() const { return failed_; }
  const ParseError& error() const { return error_; }

 private:
  void Skip();
  bool Escape(std::string* text);
  template <typename T>
  bool Convert(const NumberToken& token, T* value);

  std::string_view text_;
  size_t at_ = 0;
  bool failed_ = false;
  ParseError error_;
};

}  // namespace fold

#endif  // FOLD_COMPILER_IR_TEXT_LEXER_H_
