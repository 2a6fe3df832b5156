#include "compiler/api/target_file.h"

#include <fstream>
#include <sstream>
#include <vector>

#include "compiler/base/nearest_name.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"

namespace fold {
namespace {

constexpr size_t kMaxTargetBytes = 1 << 20;
constexpr int kMaxErrors = 20;

// Collects a text parser's errors as "line:column: message; …".
class ErrorList : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (++count_ > kMaxErrors) return;
    if (!text_.empty()) text_ += "; ";
    if (line >= 0) {
      text_ +=
          std::to_string(line + 1) + ":" + std::to_string(column + 1) + ": ";
    }
    text_ += message;
  }
  const std::string& text() const { return text_; }

 private:
  int count_ = 0;
  std::string text_;
};

}  // namespace

std::string ParseTargetText(std::string_view text,
                            foldd::v1::TargetDescriptor* target) {
  if (text.size() > kMaxTargetBytes) return "is larger than 1 MiB";
  ErrorList errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(20);
  if (parser.ParseFromString(std::string(text), target)) return "";
  return errors.text().empty() ? "cannot be parsed" : errors.text();
}

std::string ReadTargetFile(const std::string& path,
                           foldd::v1::TargetDescriptor* target) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "cannot open '" + path + "'";
  std::string text(kMaxTargetBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxTargetBytes) return path + " is larger than 1 MiB";
  if (path.ends_with(".binpb")) {
    return target->ParseFromString(text)
               ? ""
               : path + " is not a serialized TargetDescriptor";
  }
  std::string error = ParseTargetText(text, target);
  return error.empty() ? "" : path + ":" + error;
}

std::string FindBuiltinTarget(std::string_view name,
                              foldd::v1::TargetDescriptor* target) {
  std::vector<std::string_view> names;
  for (const BuiltinTarget& builtin : BuiltinTargets()) {
    if (builtin.name == name) return ParseTargetText(builtin.text, target);
    names.push_back(builtin.name);
  }
  return "no target is called '" + std::string(name.substr(0, 64)) + "'" +
         DidYouMean(name, names);
}

}  // namespace fold
