#include "server/action_parts.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace fold {
namespace {

// Words that every command has, and that name no option.
bool IsFixedWord(const std::string& word) {
  static const std::set<std::string, std::less<>> kFixed = {
      "foldc",
      std::string(kModelFile),
      "--target-file",
      std::string(kTargetFile),
      "-o",
      std::string(kArtifactFile),
      "--report",
      std::string(kReportFile),
      "--encodings",
      std::string(kEncodingsFile)};
  return kFixed.contains(word);
}

// The words of `text` that `other` lacks.
std::string WordsOnlyIn(const std::string& text, const std::string& other) {
  std::istringstream words(other);
  std::set<std::string> known;
  for (std::string word; words >> word;) known.insert(word);
  std::istringstream own(text);
  std::string only;
  for (std::string word; own >> word;) {
    if (!known.contains(word)) only += (only.empty() ? "" : " ") + word;
  }
  return only;
}

void AddFiles(const build::bazel::remote::execution::v2::Directory& directory,
              std::map<std::string, std::string>* parts) {
  for (const auto& file : directory.files()) {
    std::string name = file.name() == kModelFile       ? "model"
                       : file.name() == kTargetFile    ? "target"
                       : file.name() == kEncodingsFile ? "encodings"
                                                       : file.name();
    (*parts)[name] = file.digest().hash();
  }
  for (const auto& folder : directory.directories()) {
    (*parts)[folder.name() + "/"] = folder.digest().hash();
  }
}

}  // namespace

std::map<std::string, std::string> PartsOf(const CompileAction& action) {
  std::map<std::string, std::string> parts;
  std::string options;
  for (const std::string& word : action.command.arguments()) {
    if (IsFixedWord(word)) continue;
    options += (options.empty() ? "" : " ") + word;
  }
  parts["options"] = options;
  for (const auto& property : action.command.platform().properties()) {
    if (property.name() == "foldd-compiler") {
      parts["compiler"] = property.value();
    }
  }
  AddFiles(action.input_root, &parts);
  parts["timeout"] = std::to_string(action.action.timeout().seconds()) + " s";
  parts["salt"] = action.action.salt();
  return parts;
}

std::vector<PartDifference> ComparePartsOf(const CompileAction& asked,
                                           const CompileAction& kept) {
  auto a = PartsOf(asked);
  auto b = PartsOf(kept);
  std::set<std::string> names;
  for (const auto& [name, value] : a) names.insert(name);
  for (const auto& [name, value] : b) names.insert(name);
  std::vector<PartDifference> differences;
  for (const std::string& name : names) {
    if (a[name] == b[name]) continue;
    if (name == "options") {
      differences.push_back(
          {name, WordsOnlyIn(a[name], b[name]), WordsOnlyIn(b[name], a[name])});
    } else {
      differences.push_back({name, a[name], b[name]});
    }
  }
  return differences;
}

}  // namespace fold
