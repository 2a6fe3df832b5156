#include "compiler/ir/text_format.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "compiler/ir/encoding.h"

namespace fold {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

template <typename T>
std::string Shortest(T value) {
  if (value != value) return "nan";
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

// One element as the text form spells it.
std::string FormatElement(const Tensor& tensor, int64_t i) {
  if (tensor.type == ElementType::f64) return Shortest(tensor.real(i));
  if (IsFloat(tensor.type)) return Shortest(static_cast<float>(tensor.real(i)));
  const int64_t integer = tensor.integer(i);
  if (tensor.type != ElementType::u64) return std::to_string(integer);
  return std::to_string(static_cast<uint64_t>(integer));
}

// True if reading back the printed elements gives these bytes: not so for
// uncommon NaNs and for codes outside of a 4-bit or boolean type.
bool ElementsSayAll(const Tensor& tensor, int64_t count) {
  const int size = ElementSize(tensor.type);
  for (int64_t i = 0; i < count; ++i) {
    if (!IsFloat(tensor.type)) {
      if (tensor.type == ElementType::i64 || tensor.type == ElementType::u64) {
        continue;
      }
      const int64_t code = tensor.integer(i);
      if (code < LowestCode(tensor.type) || code > HighestCode(tensor.type)) {
        return false;
      }
      continue;
    }
    const double value = tensor.real(i);
    if (value == value) continue;
    const TensorPtr again = MakeRealTensor(
        tensor.type, {}, {std::numeric_limits<double>::quiet_NaN()});
    if (std::memcmp(again->bytes.data(), tensor.bytes.data() + i * size,
                    size) != 0) {
      return false;
    }
  }
  return true;
}

bool AllAlike(const Tensor& tensor) {
  const auto size = static_cast<size_t>(ElementSize(tensor.type));
  return tensor.bytes.size() > size &&
         std::memcmp(tensor.bytes.data(), tensor.bytes.data() + size,
                     tensor.bytes.size() - size) == 0;
}

std::string Hex(const std::vector<uint8_t>& bytes) {
  std::string text = "hex\"";
  text.reserve(bytes.size() * 2 + 5);
  for (uint8_t byte : bytes) {
    text += kHexDigits[byte >> 4];
    text += kHexDigits[byte & 15];
  }
  return text + '"';
}

}  // namespace

bool IsPlainName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

std::string QuoteText(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < 0x20 || byte >= 0x7f) {
      quoted += "\\x";
      quoted += kHexDigits[byte >> 4];
      quoted += kHexDigits[byte & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string FormatName(std::string_view name) {
  return IsPlainName(name) ? std::string(name) : QuoteText(name);
}

std::string QuotedList(const std::vector<std::string>& texts) {
  std::string list = "(";
  for (const std::string& text : texts) {
    if (list.size() > 1) list += ',';
    list += QuoteText(text);
  }
  return list + ')';
}

std::string FormatReal(double value) { return Shortest(value); }

std::string FormatMarkedReal(double value) {
  std::string text = Shortest(value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string FormatElementAndShape(ElementType element, const Shape& shape) {
  std::string text(ElementTypeName(element));
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) text += ',';
    text += std::to_string(shape[i]);
  }
  return text + ']';
}

std::string FormatType(const TensorType& type) {
  std::string text = FormatElementAndShape(type.element, type.shape);
  if (!type.encoding) return text;
  text += " q(" + FormatEncoding(*type.encoding);
  if (!type.encoding->source.empty()) {
    text += " src=" + QuoteText(type.encoding->source);
  }
  return text + ')';
}

std::string FormatElements(const Tensor& tensor, int64_t* splat_bytes_left) {
  const int64_t count = tensor.size();
  const auto bytes = static_cast<int64_t>(tensor.bytes.size());
  if (count <= kMostListElements && ElementsSayAll(tensor, count)) {
    std::string text = "[";
    for (int64_t i = 0; i < count; ++i) {
      if (i) text += ',';
      text += FormatElement(tensor, i);
    }
    return text + ']';
  }
  if (bytes <= *splat_bytes_left && AllAlike(tensor) &&
      ElementsSayAll(tensor, 1)) {
    *splat_bytes_left -= bytes;
    return "splat(" + FormatElement(tensor, 0) + ")";
  }
  return Hex(tensor.bytes);
}

}  // namespace fold
