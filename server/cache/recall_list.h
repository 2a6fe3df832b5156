// Digests that an operator disowned: blobs and actions that are never served
// again, though the same bytes come out of a compile again, until they are
// taken off the list. Survives restarts.
#ifndef FOLD_SERVER_CACHE_RECALL_LIST_H_
#define FOLD_SERVER_CACHE_RECALL_LIST_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/cache/mark_folder.h"
#include "server/cache/store.h"

namespace fold {

class RecallList {
 public:
  // `folder` is ROOT/recalls of an open DiskStore.
  explicit RecallList(const std::string& folder) : marks_(folder) {}

  absl::Status Add(const Key& key, const std::string& note);
  // NOT_FOUND: it is not on the list.
  absl::Status Remove(const Key& key);
  // The note, if the key is on the list.
  std::optional<std::string> Find(const Key& key) const;
  std::vector<std::pair<Key, std::string>> All() const;

 private:
  MarkFolder marks_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_RECALL_LIST_H_
