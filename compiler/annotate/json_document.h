// A JSON text as a tree, within bounds: what a stranger wrote can be long,
// deep, wrong or double, and none of it may cost more than its own size.
#ifndef FOLD_COMPILER_ANNOTATE_JSON_DOCUMENT_H_
#define FOLD_COMPILER_ANNOTATE_JSON_DOCUMENT_H_

#include <string>
#include <string_view>
#include <vector>

namespace fold {

struct JsonValue {
  enum class Kind : unsigned char {
    kNull,
    kBoolean,
    kNumber,
    kText,
    kList,
    kObject,
  };
  Kind kind = Kind::kNull;
  bool boolean = false;
  double number = 0;  // the double nearest to what is written; finite
  std::string text;   // UTF-8
  std::vector<JsonValue> items;   // of a list or an object
  std::vector<std::string> keys;  // of an object's items; may repeat

  // The first item of that key; null if there is none or this is no object.
  const JsonValue* Find(std::string_view key) const;
};

// "a number", "a list", …: for messages.
std::string_view KindName(JsonValue::Kind kind);

// Parses one JSON text of at most 2 million values, 12 levels deep. Returns ""
// or what is wrong, with line and column. NaN, infinities, numbers beyond the
// range of a double and bytes that are not UTF-8 are no JSON.
std::string ParseJson(std::string_view text, JsonValue* root);

}  // namespace fold

#endif  // FOLD_COMPILER_ANNOTATE_JSON_DOCUMENT_H_
