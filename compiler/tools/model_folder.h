// The files beside a model that it names as external data. Only plain names
// are looked up, in the model's own folder; a link is no such file. What was
// asked for stays mapped, and is known by its digest.
#ifndef FOLD_COMPILER_TOOLS_MODEL_FOLDER_H_
#define FOLD_COMPILER_TOOLS_MODEL_FOLDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/api/action.h"

namespace fold {

class ModelFolder {
 public:
  explicit ModelFolder(std::string_view model_path);
  ~ModelFolder();
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  // The bytes of the file `name`; nothing if there is no such file.
  std::optional<std::span<const uint8_t>> Open(std::string_view name);
  // What was opened, by name.
  std::map<std::string, Digest> Digests() const;

 private:
  std::string folder_;
  std::map<std::string, std::span<const uint8_t>, std::less<>> files_;
};

}  // namespace fold

#endif  // FOLD_COMPILER_TOOLS_MODEL_FOLDER_H_
