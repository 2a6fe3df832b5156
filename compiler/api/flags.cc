#include "compiler/api/flags.h"

#include <algorithm>
#include <charconv>

#include "compiler/base/nearest_name.h"

namespace fold {
namespace {

const Flag* Find(std::span<const Flag> flags, std::string_view name) {
  auto found = std::find_if(flags.begin(), flags.end(),
                            [&](const Flag& f) { return f.name == name; });
  return found == flags.end() ? nullptr : &*found;
}

std::string UnknownFlag(std::string_view name, std::span<const Flag> flags) {
  std::vector<std::string_view> names;
  for (const Flag& flag : flags) {
    if (!flag.hidden) names.push_back(flag.name);
  }
  return "unknown flag " + std::string(name) + DidYouMean(name, names);
}

// Handles the flag at `at`, and moves `at` to its last argument.
std::string SetOne(std::span<const std::string> arguments, size_t& at,
                   std::span<const Flag> flags) {
  std::string_view argument = arguments[at];
  size_t equals = argument.find('=');
  std::string_view name = argument.substr(0, equals);
  const Flag* flag = Find(flags, name);
  if (flag == nullptr) return UnknownFlag(name, flags);
  std::string_view value;
  if (flag->value.empty()) {
    if (equals != std::string_view::npos) {
      return flag->name + " takes no value";
    }
  } else if (equals != std::string_view::npos) {
    value = argument.substr(equals + 1);
  } else if (++at < arguments.size()) {
    value = arguments[at];
  } else {
    return flag->name + " needs a value: " + flag->name + " " + flag->value;
  }
  std::string error = flag->set(value);
  return error.empty() ? "" : flag->name + ": " + error;
}

}  // namespace

ParsedLine ParseLine(std::span<const std::string> arguments,
                     std::span<const Flag> flags) {
  ParsedLine line;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const std::string& argument = arguments[at];
    if (argument == "--") {
      line.positional.insert(line.positional.end(), arguments.begin() + at + 1,
                             arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      line.positional.push_back(argument);
      continue;
    }
    line.error = SetOne(arguments, at, flags);
    if (!line.error.empty()) break;
  }
  return line;
}

std::string FlagHelp(std::span<const Flag> flags) {
  constexpr size_t kColumn = 28;
  std::string out;
  for (const Flag& flag : flags) {
    if (flag.hidden) continue;
    std::string line = "  " + flag.name;
    if (!flag.value.empty()) line += " " + flag.value;
    line.resize(std::max(line.size() + 2, kColumn), ' ');
    out += line + flag.help + "\n";
  }
  return out;
}

std::function<std::string(std::string_view)> SetText(std::string* out) {
  return [out](std::string_view value) -> std::string {
    if (value.empty()) return "is empty";
    *out = std::string(value);
    return "";
  };
}

std::function<std::string(std::string_view)> AddText(
    std::vector<std::string>* out) {
  return [out](std::string_view value) {
    out->emplace_back(value);
    return std::string();
  };
}

std::function<std::string(std::string_view)> SetSwitch(bool* out) {
  return [out](std::string_view) -> std::string {
    *out = true;
    return "";
  };
}

std::function<std::string(std::string_view)> SetInteger(int64_t* out,
                                                        int64_t lowest,
                                                        int64_t highest) {
  return [=](std::string_view value) -> std::string {
    int64_t number = 0;
    auto end = value.data() + value.size();
    auto parsed = std::from_chars(value.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end || number < lowest ||
        number > highest) {
      return "'" + std::string(value) + "' is not a number from " +
             std::to_string(lowest) + " to " + std::to_string(highest);
    }
    *out = number;
    return "";
  };
}

}  // namespace fold
