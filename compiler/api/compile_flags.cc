#include "compiler/api/compile_flags.h"

#include <charconv>

#include "compiler/base/nearest_name.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

template <typename Enum>
struct Word {
  Enum value;
  std::string_view word;
};

constexpr Word<v1::BoundaryIo> kIoWords[] = {{v1::IO_FLOAT, "float"},
                                             {v1::IO_QUANTIZED, "quantized"}};
constexpr Word<v1::VerifyMode> kVerifyWords[] = {{v1::VERIFY_OFF, "off"},
                                                 {v1::VERIFY_END, "end"},
                                                 {v1::VERIFY_EACH, "each"}};
constexpr Word<v1::Requirement> kRequireWords[] = {
    {v1::REQUIREMENT_UNSPECIFIED, "none"},
    {v1::INTEGER_ONLY, "integer-only"},
    {v1::EXACT_RESULT, "exact"}};

template <typename Enum, size_t N>
std::string_view WordOf(const Word<Enum> (&words)[N], Enum value) {
  for (const auto& row : words) {
    if (row.value == value) return row.word;
  }
  return "";
}

// Finds the value of a word; otherwise says which words there are.
template <typename Enum, size_t N>
std::string FindWord(const Word<Enum> (&words)[N], std::string_view word,
                     Enum* value) {
  std::string known;
  for (const auto& row : words) {
    if (row.word == word) {
      *value = row.value;
      return "";
    }
    known += (known.empty() ? "" : ", ") + std::string(row.word);
  }
  return "'" + std::string(word) + "' is none of " + known;
}

std::string AddShape(std::string_view text, v1::CompileOptions* options) {
  size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    return "'" + std::string(text) + "' is not NAME=1,3,8,8";
  }
  std::string name(text.substr(0, equals));
  for (const v1::InputShape& shape : options->shapes()) {
    if (shape.name() == name) return "'" + name + "' is given twice";
  }
  v1::InputShape shape;
  shape.set_name(name);
  std::string_view list = text.substr(equals + 1);
  while (!list.empty()) {
    int64_t size = 0;
    auto end = list.data() + list.size();
    auto parsed = std::from_chars(list.data(), end, size);
    bool more =
        parsed.ptr != end && *parsed.ptr == ',' && parsed.ptr + 1 != end;
    if (parsed.ec != std::errc() || size < 0 || (parsed.ptr != end && !more)) {
      return "'" + std::string(text) + "': a dimension is a number from 0 on";
    }
    shape.add_dimensions(size);
    list.remove_prefix(parsed.ptr - list.data() + (more ? 1 : 0));
  }
  *options->add_shapes() = std::move(shape);
  return "";
}

std::string AddRequirement(std::string_view word, v1::CompileOptions* options) {
  v1::Requirement value = v1::REQUIREMENT_UNSPECIFIED;
  std::string error = FindWord(kRequireWords, word, &value);
  if (!error.empty() || value == v1::REQUIREMENT_UNSPECIFIED) return error;
  for (int have : options->require()) {
    if (have == value) return "";
  }
  options->add_require(value);
  return "";
}

std::string SetPasses(std::string_view text, v1::CompileOptions* options) {
  options->clear_passes();
  while (!text.empty()) {
    size_t comma = text.find(',');
    if (comma == 0) return "a pass's name is empty";
    options->add_passes(std::string(text.substr(0, comma)));
    text.remove_prefix(comma == std::string_view::npos ? text.size()
                                                       : comma + 1);
  }
  return options->passes().empty() ? "names no pass" : "";
}

}  // namespace

std::vector<Flag> CompileFlagTable(CompileFlags* flags) {
  v1::CompileOptions* options = &flags->options;
  return {
      {"--target", "T", "the target, by name", SetText(&flags->target_name)},
      {"--target-file", "FILE", "the target, a descriptor as textproto",
       SetText(&flags->target_path)},
      {"-o", "FILE", "where the artifact goes", SetText(&flags->output_path)},
      {"--encodings", "FILE", "a table of quantization parameters",
       SetText(&flags->encodings_path)},
      {"--report", "FILE", "where the report goes, as JSON",
       SetText(&flags->report_path)},
      {"--shape", "NAME=1,3,8,8", "dimensions of an input; may be repeated",
       [=](std::string_view text) { return AddShape(text, options); }},
      {"--io", "FORM", "boundary: float or quantized (default: the target's)",
       [=](std::string_view word) {
         v1::BoundaryIo io = v1::BOUNDARY_IO_UNSPECIFIED;
         std::string error = FindWord(kIoWords, word, &io);
         options->set_io(io);
         return error;
       }},
      {"--require", "WHAT", "fail without: integer-only, exact, none",
       [=](std::string_view word) { return AddRequirement(word, options); }},
      {"--taps", "", "name the inner values in the artifact",
       [=](std::string_view) -> std::string {
         options->set_taps(true);
         return "";
       }},
      {"--sheets", "", "report the migration sheet of every rewrite",
       [=](std::string_view) -> std::string {
         options->set_sheets(true);
         return "";
       }},
      {"--dump-after", "PASS", "print the graph after a pass; may be repeated",
       [=](std::string_view pass) -> std::string {
         if (pass.empty()) return "is empty";
         options->add_dump_after(std::string(pass));
         return "";
       }},
      {"--verify", "WHEN", "check the graph: off, end (default) or each",
       [=](std::string_view word) {
         v1::VerifyMode mode = v1::VERIFY_MODE_UNSPECIFIED;
         std::string error = FindWord(kVerifyWords, word, &mode);
         options->set_verify(mode);
         return error;
       }},
      {"--passes", "A,B,…", "run these passes instead of the pipeline",
       [=](std::string_view text) { return SetPasses(text, options); }},
      {"--progress-fd", "N", "write progress to this descriptor",
       SetInteger(&flags->progress_fd, 0, 1 << 20), true},
      {"--job-traceparent", "T", "the trace that the compile is for",
       SetText(&flags->traceparent), true},
  };
}

std::string FinishCompileFlags(const std::vector<std::string>& positional,
                               CompileFlags* flags) {
  if (positional.empty()) return "no model is given";
  if (positional.size() > 1) {
    return "one model at a time: what is '" + positional[1] + "'?";
  }
  flags->model_path = positional[0];
  if (flags->target_name.empty() == flags->target_path.empty()) {
    return "give one of --target T and --target-file FILE";
  }
  if (flags->output_path.empty()) return "say where the artifact goes: -o FILE";
  return "";
}

std::string ParseCompileLine(std::span<const std::string> arguments,
                             CompileFlags* flags) {
  std::vector<Flag> table = CompileFlagTable(flags);
  ParsedLine line = ParseLine(arguments, table);
  if (!line.error.empty()) return line.error;
  return FinishCompileFlags(line.positional, flags);
}

std::string_view RequirementWord(v1::Requirement requirement) {
  return WordOf(kRequireWords, requirement);
}

std::string_view BoundaryIoWord(v1::BoundaryIo io) {
  return WordOf(kIoWords, io);
}

std::string_view VerifyModeWord(v1::VerifyMode mode) {
  return WordOf(kVerifyWords, mode);
}

}  // namespace fold
