#include "compiler/annotate/json_document.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "nlohmann/json.hpp"

namespace fold {
namespace {

constexpr size_t kMostValues = 2000000;
constexpr size_t kMostLevels = 12;

// Takes the parser's events and builds the tree. Each function returns whether
// to go on.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(JsonValue* root) : root_(root) {}

  bool null() override { return Put({}); }
  bool boolean(bool value) override {
    JsonValue item;
    item.kind = JsonValue::Kind::kBoolean;
    item.boolean = value;
    return Put(std::move(item));
  }
  bool number_integer(number_integer_t value) override {
    return PutNumber(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return PutNumber(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override {
    return PutNumber(value);
  }
  bool string(string_t& value) override {
    JsonValue item;
    item.kind = JsonValue::Kind::kText;
    item.text = std::move(value);
    return Put(std::move(item));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    return Open(JsonValue::Kind::kObject);
  }
  bool start_array(std::size_t) override {
    return Open(JsonValue::Kind::kList);
  }
  bool key(string_t& value) override {
    open_.back()->keys.push_back(std::move(value));
    return true;
  }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    position_ = position;
    fault_ = "is not JSON";
    return false;
  }

  const std::string& fault() const { return fault_; }
  size_t position() const { return position_; }

 private:
  bool Stop(std::string fault) {
    fault_ = std::move(fault);
    return false;
  }
  // Where the item came to lie stays valid while it is open: nothing is added
  // to its siblings meanwhile.
  JsonValue* Place(JsonValue item) {
    if (open_.empty()) {
      *root_ = std::move(item);
      return root_;
    }
    open_.back()->items.push_back(std::move(item));
    return &open_.back()->items.back();
  }
  bool Put(JsonValue item) {
    if (++count_ > kMostValues) {
      return Stop("has more than " + std::to_string(kMostValues) + " values");
    }
    Place(std::move(item));
    return true;
  }
  bool PutNumber(double value) {
    JsonValue item;
    item.kind = JsonValue::Kind::kNumber;
    item.number = value;
    return std::isfinite(value) ? Put(std::move(item))
                                : Stop("has a number that is not finite");
  }
  bool Open(JsonValue::Kind kind) {
    if (open_.size() >= kMostLevels) {
      return Stop("is more than " + std::to_string(kMostLevels) +
                  " levels deep");
    }
    if (++count_ > kMostValues) {
      return Stop("has more than " + std::to_string(kMostValues) + " values");
    }
    JsonValue item;
    item.kind = kind;
    open_.push_back(Place(std::move(item)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  JsonValue* root_;
  std::vector<JsonValue*> open_;
  size_t count_ = 0, position_ = 0;
  std::string fault_;
};

std::string LineAndColumn(std::string_view text, size_t position) {
  const std::string_view before = text.substr(0, position);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t start = before.rfind('\n') + 1;  // 0 where there is none
  return "line " + std::to_string(line) + ", column " +
         std::to_string(before.size() - start);
}

}  // namespace

const JsonValue* JsonValue::Find(std::string_view key) const {
  for (size_t i = 0; i < keys.size() && i < items.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

std::string_view KindName(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBoolean:
      return "true or false";
    case JsonValue::Kind::kNumber:
      return "a number";
    case JsonValue::Kind::kText:
      return "a text";
    case JsonValue::Kind::kList:
      return "a list";
    case JsonValue::Kind::kObject:
      return "an object";
  }
  return "nothing";
}

std::string ParseJson(std::string_view text, JsonValue* root) {
  TreeBuilder builder(root);
  const bool good =
      nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  if (good && builder.fault().empty()) return "";
  if (builder.position() == 0) return builder.fault();
  return builder.fault() + " at " + LineAndColumn(text, builder.position());
}

}  // namespace fold
