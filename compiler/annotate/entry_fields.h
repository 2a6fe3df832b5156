// The fields of one entry of a table, each read with its fault said.
#ifndef FOLD_COMPILER_ANNOTATE_ENTRY_FIELDS_H_
#define FOLD_COMPILER_ANNOTATE_ENTRY_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/annotate/json_document.h"
#include "compiler/base/diagnostic.h"

namespace fold {

// A stranger's name as a message can bear it.
std::string Shorten(std::string_view name);
// ASCII letters in lower case.
std::string LowerCase(std::string text);

// A view of one JSON object. Functions that read a field return false, after an
// error that names `where` and the field, if it is missing, of another kind or
// out of range.
class EntryFields {
 public:
  EntryFields(const JsonValue& object, std::string where, Diagnostics* sink)
      : object_(object), where_(std::move(where)), sink_(sink) {}

  // Adds the error and returns false.
  bool Fault(const std::string& message,
             DiagnosticCode code = DiagnosticCode::bad_encoding_table) const;

  // It is an object of fields of these names, each once.
  bool Check(std::initializer_list<std::string_view> known) const;
  bool Has(std::string_view key) const { return object_.Find(key) != nullptr; }
  bool Text(std::string_view key, std::string* out) const;
  bool Number(std::string_view key, double* out) const;
  bool Integer(std::string_view key, int64_t* out) const;
  // true, false, "True" or "False"; an absent field is false.
  bool Truth(std::string_view key, bool* out) const;
  bool Numbers(std::string_view key, std::vector<double>* out) const;
  // `number`, read from `key`, as a whole number of at most 53 bits.
  bool Whole(std::string_view key, double number, int64_t* out) const;

 private:
  const JsonValue* Get(std::string_view key, JsonValue::Kind kind) const;
  bool WrongKind(std::string_view key, const JsonValue& value,
                 JsonValue::Kind wanted) const;

  const JsonValue& object_;
  std::string where_;
  Diagnostics* sink_;
};

}  // namespace fold

#endif  // FOLD_COMPILER_ANNOTATE_ENTRY_FIELDS_H_
