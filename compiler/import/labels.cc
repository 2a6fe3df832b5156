#include "compiler/import/labels.h"

#include <cstdint>

namespace fold::importer {
namespace {

// Length in bytes of the well-formed UTF-8 character at `text[at]`, 0 if there
// is none (Unicode 15, table 3-7: no overlong forms, no surrogates).
size_t CharacterLength(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : 0;
  };
  const uint8_t lead = byte(at);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  uint8_t low = 0x80, high = 0xbf;
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  for (size_t i = 1; i < length; ++i) {
    if (byte(at + i) < low || byte(at + i) > high) return 0;
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

// The length of the "path/file.cc:123" or "path/file.h" that starts at `at`, 0
// if the word there is no source file.
size_t SourceFileLength(std::string_view text, size_t at) {
  const size_t end = text.find_first_of(" \t\n()[],'\"", at);
  const std::string_view word = text.substr(at, end - at);
  if (word.find('/') == std::string_view::npos) return 0;
  for (std::string_view suffix : {".cc", ".h", ".cpp"}) {
    const size_t dot = word.find(suffix);
    if (dot == std::string_view::npos) continue;
    const size_t after = dot + suffix.size();
    if (after == word.size() || word[after] == ':') return word.size();
  }
  return 0;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = CharacterLength(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string Readable(std::string_view text, size_t longest) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string readable;
  for (size_t i = 0; i < text.size();) {
    if (readable.size() >= longest) return readable + "...";
    const size_t length = CharacterLength(text, i);
    const auto byte = static_cast<uint8_t>(text[i]);
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      readable += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      ++i;
    } else {
      readable += text.substr(i, length);
      i += length;
    }
  }
  return readable;
}

std::string NodeLabel(const onnx::NodeProto& node) {
  if (!node.name().empty()) return Readable(node.name());
  const std::string output = node.output().empty() ? "" : node.output(0);
  return Readable(node.op_type() + "->" + output);
}

std::string CleanMessage(std::string_view what) {
  std::string message;
  bool word_start = true;
  for (size_t i = 0; i < what.size();) {
    const size_t source = word_start ? SourceFileLength(what, i) : 0;
    if (source > 0) {
      i += source;
      continue;
    }
    char c = what[i++];
    if (c == '\n' || c == '\t') c = ' ';
    word_start = c == ' ' || c == '(' || c == '[' || c == '\'' || c == '"';
    if (c == ' ' && (message.empty() || message.back() == ' ')) continue;
    message += c;
  }
  while (!message.empty() && message.back() == ' ') message.pop_back();
  return Readable(message, 500);
}

std::string NodeInMessage(std::string_view what) {
  constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
      {"node name: ", "): "}, {"for node. Name: ", " OpType"}};
  for (const auto& [before, after] : kMarks) {
    const size_t mark = what.find(before);
    if (mark == std::string_view::npos) continue;
    const size_t begin = mark + before.size();
    const size_t end = what.find(after, begin);
    if (end != std::string_view::npos) {
      return Readable(what.substr(begin, end - begin));
    }
  }
  return "";
}

std::string FormatShape(const onnx::TensorShapeProto& shape) {
  std::string text = "[";
  for (int i = 0; i < shape.dim_size(); ++i) {
    const auto& dim = shape.dim(i);
    if (i > 0) text += ",";
    if (dim.has_dim_value()) {
      text += std::to_string(dim.dim_value());
    } else {
      text += dim.dim_param().empty() ? "?" : Readable(dim.dim_param(), 40);
    }
  }
  return text + "]";
}

}  // namespace fold::importer
