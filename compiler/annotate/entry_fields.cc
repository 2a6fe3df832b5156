#include "compiler/annotate/entry_fields.h"

#include <algorithm>
#include <cmath>

namespace fold {
namespace {
constexpr size_t kLongestName = 200;  // in a message; bytes
}  // namespace

std::string Shorten(std::string_view name) {
  if (name.size() <= kLongestName) return std::string(name);
  size_t end = kLongestName;  // not within a UTF-8 sequence
  while (end > 0 && (name[end] & 0xc0) == 0x80) --end;
  return std::string(name.substr(0, end)) + "…";
}

std::string LowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool EntryFields::Fault(const std::string& message, DiagnosticCode code) const {
  return sink_->Add(code, where_, message);
}

bool EntryFields::Check(std::initializer_list<std::string_view> known) const {
  if (object_.kind != JsonValue::Kind::kObject) {
    return Fault("is " + std::string(KindName(object_.kind)) +
                 " and not an object of fields");
  }
  for (size_t i = 0; i < object_.keys.size(); ++i) {
    const std::string& key = object_.keys[i];
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return Fault("has a field '" + Shorten(key) +
                   "' that this format does not have");
    }
    if (std::find(object_.keys.begin(), object_.keys.begin() + i, key) !=
        object_.keys.begin() + i) {
      return Fault("has the field '" + key + "' twice");
    }
  }
  return true;
}

const JsonValue* EntryFields::Get(std::string_view key,
                                  JsonValue::Kind kind) const {
  const JsonValue* value = object_.Find(key);
  if (!value) {
    Fault("has no field '" + std::string(key) + "'");
    return nullptr;
  }
  if (value->kind == kind) return value;
  WrongKind(key, *value, kind);
  return nullptr;
}

bool EntryFields::Text(std::string_view key, std::string* out) const {
  const JsonValue* value = Get(key, JsonValue::Kind::kText);
  if (value) *out = value->text;
  return value != nullptr;
}

bool EntryFields::Number(std::string_view key, double* out) const {
  const JsonValue* value = Get(key, JsonValue::Kind::kNumber);
  if (value) *out = value->number;
  return value != nullptr;
}

bool EntryFields::Integer(std::string_view key, int64_t* out) const {
  double number = 0;
  return Number(key, &number) && Whole(key, number, out);
}

bool EntryFields::Truth(std::string_view key, bool* out) const {
  const JsonValue* value = object_.Find(key);
  *out = false;
  if (!value) return true;
  const std::string word = LowerCase(value->text);
  if (value->kind == JsonValue::Kind::kBoolean) {
    *out = value->boolean;
  } else if (value->kind == JsonValue::Kind::kText &&
             (word == "true" || word == "false")) {
    *out = word == "true";
  } else {
    return Fault("field '" + std::string(key) + "' is neither true nor false");
  }
  return true;
}

bool EntryFields::Numbers(std::string_view key,
                          std::vector<double>* out) const {
  const JsonValue* value = Get(key, JsonValue::Kind::kList);
  if (!value) return false;
  for (const JsonValue& item : value->items) {
    if (item.kind != JsonValue::Kind::kNumber) {
      return WrongKind(std::string(key) + "[" +
                           std::to_string(&item - value->items.data()) + "]",
                       item, JsonValue::Kind::kNumber);
    }
    out->push_back(item.number);
  }
  return true;
}

bool EntryFields::Whole(std::string_view key, double number,
                        int64_t* out) const {
  constexpr double kLimit = 9007199254740992.0;  // 2^53
  if (number != std::floor(number) || std::fabs(number) > kLimit) {
    return Fault("field '" + std::string(key) + "' is not a whole number");
  }
  *out = static_cast<int64_t>(number);
  return true;
}

bool EntryFields::WrongKind(std::string_view key, const JsonValue& value,
                            JsonValue::Kind wanted) const {
  return Fault("field '" + std::string(key) + "' is " +
               std::string(KindName(value.kind)) + " and not " +
               std::string(KindName(wanted)));
}

}  // namespace fold
