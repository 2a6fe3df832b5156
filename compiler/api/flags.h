// Command-line flags from a table: one row a flag, from which the line is
// parsed and --help is printed.
#ifndef FOLD_COMPILER_API_FLAGS_H_
#define FOLD_COMPILER_API_FLAGS_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fold {

struct Flag {
  std::string name;   // "--target" or "-o"
  std::string value;  // name of its value in --help; empty: a switch
  std::string help;   // one line
  // Takes the value ("" for a switch); returns what is wrong with it, or "".
  std::function<std::string(std::string_view value)> set;
  bool hidden = false;  // not in --help
};

struct ParsedLine {
  std::vector<std::string> positional;
  std::string error;  // empty: the line was understood
};

// Understands `--name value`, `--name=value` and `--switch`; `--` ends the
// flags. Calls `set` in the order of the line; stops at the first error. An
// unknown flag is an error with a suggestion.
ParsedLine ParseLine(std::span<const std::string> arguments,
                     std::span<const Flag> flags);

// The table as text, a flag a line.
std::string FlagHelp(std::span<const Flag> flags);

// Setters for common values.
std::function<std::string(std::string_view)> SetText(std::string* out);
std::function<std::string(std::string_view)> SetSwitch(bool* out);
// Of a flag that may be repeated.
std::function<std::string(std::string_view)> AddText(
    std::vector<std::string>* out);
// A decimal integer within [lowest, highest].
std::function<std::string(std::string_view)> SetInteger(int64_t* out,
                                                        int64_t lowest,
                                                        int64_t highest);

}  // namespace fold

#endif  // FOLD_COMPILER_API_FLAGS_H_
