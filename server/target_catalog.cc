#include "server/target_catalog.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "compiler/api/convert.h"
#include "compiler/api/target_file.h"
#include "compiler/base/nearest_name.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace v1 = foldd::v1;

// What is wrong with the target of a file called `name`.
std::string Faults(const std::string& name,
                   const v1::TargetDescriptor& target) {
  std::string faults;
  auto add = [&](const std::string& field, const std::string& message) {
    faults += "\n  " + name + ": " + field + " " + message;
  };
  if (target.name() != name) {
    add("name", "'" + target.name() + "' is not the file's");
  }
  for (const TargetProblem& problem : CheckTargetMessage(target)) {
    add(problem.field, problem.message);
  }
  return faults;
}

}  // namespace

absl::StatusOr<TargetCatalog> TargetCatalog::Load(const std::string& folder) {
  TargetCatalog catalog;
  std::string faults;
  for (const BuiltinTarget& builtin : BuiltinTargets()) {
    std::string name(builtin.name);
    v1::TargetDescriptor target;
    std::string error = ParseTargetText(builtin.text, &target);
    if (error.empty()) {
      faults += Faults(name, target);
    } else {
      faults.append("\n  ").append(name).append(error);
    }
    catalog.targets_[name] = std::move(target);
  }
  std::set<fs::path> files;
  if (!folder.empty()) {
    std::error_code error;
    for (const auto& file : fs::directory_iterator(folder, error)) {
      if (file.path().extension() == ".textproto") files.insert(file.path());
    }
    if (error) {
      return absl::NotFoundError("cannot read " + folder + ": " +
                                 error.message());
    }
  }
  for (const fs::path& file : files) {
    std::string name = file.stem();
    v1::TargetDescriptor target;
    std::string error = ReadTargetFile(file, &target);
    faults += error.empty() ? Faults(name, target) : "\n  " + error;
    catalog.targets_[name] = std::move(target);  // may replace a built-in one
  }
  if (!faults.empty()) {
    return absl::InvalidArgumentError("targets at fault:" + faults);
  }
  return catalog;
}

const v1::TargetDescriptor* TargetCatalog::Find(const std::string& name) const {
  auto found = targets_.find(name);
  return found == targets_.end() ? nullptr : &found->second;
}

std::string TargetCatalog::Unknown(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& [known, target] : targets_) names.push_back(known);
  return "no target is called '" + std::string(name.substr(0, 64)) + "'" +
         DidYouMean(name, names);
}

}  // namespace fold
