// A small durable map from names to texts: a folder with a file a name. For
// what an operator decided about entries, which must outlive any crash.
#ifndef FOLD_SERVER_CACHE_MARK_FOLDER_H_
#define FOLD_SERVER_CACHE_MARK_FOLDER_H_

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace fold {

class MarkFolder {
 public:
  // Loads what is in `folder`, which must exist.
  explicit MarkFolder(std::string folder);

  // Names are those of FlatName. For good when OK.
  absl::Status Put(const std::string& name, const std::string& text);
  // NOT_FOUND: no such mark.
  absl::Status Erase(const std::string& name);
  std::optional<std::string> Find(const std::string& name) const;
  std::map<std::string, std::string> All() const;

 private:
  const std::string folder_;
  std::mutex write_mutex_;  // one change at a time; held while it is synced
  mutable std::mutex mutex_;
  std::map<std::string, std::string> marks_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_MARK_FOLDER_H_
