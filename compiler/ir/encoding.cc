#include "compiler/ir/encoding.h"

#include <algorithm>
#include <charconv>

namespace fold {
namespace {

std::string Number(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}
std::string Number(int64_t value) { return std::to_string(value); }

template <typename T>
std::string List(const std::vector<T>& values) {
  if (values.size() == 1) return Number(values[0]);
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) text += ",";
    text += Number(values[i]);
  }
  return text + "]";
}

}  // namespace

bool operator==(const Encoding& a, const Encoding& b) {
  return a.scales == b.scales && a.zero_points == b.zero_points &&
         a.axis == b.axis && a.block == b.block && a.code_low == b.code_low &&
         a.code_high == b.code_high && a.rounding == b.rounding;
}

Encoding PermuteEncoding(const Encoding& encoding,
                         const std::vector<int64_t>& perm) {
  Encoding permuted = encoding;
  if (encoding.axis < 0) return permuted;
  const auto at = std::find(perm.begin(), perm.end(), encoding.axis);
  permuted.axis = static_cast<int>(at - perm.begin());
  return permuted;
}

Encoding SimplifyEncoding(Encoding encoding) {
  const auto alike = [](const auto& values) {
    return std::all_of(values.begin(), values.end(),
                       [&](auto value) { return value == values[0]; });
  };
  if (encoding.axis >= 0 && encoding.block == 0 && !encoding.scales.empty() &&
      alike(encoding.scales) && alike(encoding.zero_points)) {
    encoding.axis = -1;
    encoding.scales.resize(1);
    encoding.zero_points.resize(1);
  }
  return encoding;
}

std::string FormatEncoding(const Encoding& encoding) {
  std::string text =
      "s=" + List(encoding.scales) + " z=" + List(encoding.zero_points);
  if (encoding.axis >= 0) text += " axis=" + std::to_string(encoding.axis);
  if (encoding.block > 0) text += " block=" + std::to_string(encoding.block);
  if (encoding.code_low || encoding.code_high) {
    text += " codes=[";
    text += encoding.code_low ? std::to_string(*encoding.code_low) : "";
    text += ",";
    text += encoding.code_high ? std::to_string(*encoding.code_high) : "";
    text += "]";
  }
  if (encoding.rounding != Rounding::kHalfEven) {
    text += " rounding=";
    text += RoundingName(encoding.rounding);
  }
  return text;
}

}  // namespace fold
