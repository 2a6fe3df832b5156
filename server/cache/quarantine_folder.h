// A folder of entries that were found to be wrong, for a person to look at:
// bounded in number and bytes; the oldest goes first.
#ifndef FOLD_SERVER_CACHE_QUARANTINE_FOLDER_H_
#define FOLD_SERVER_CACHE_QUARANTINE_FOLDER_H_

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "server/cache/store.h"

namespace fold {

class QuarantineFolder {
 public:
  struct Item {
    std::string name;  // FlatName of its key
    int64_t size = 0;
  };

  // Loads what an earlier server left in `folder`.
  QuarantineFolder(std::string folder, int64_t limit_items,
                   int64_t limit_bytes);

  // Moves the file of an entry here, or removes it if it is too large.
  void Take(const std::string& path, const Key& key, int64_t size);
  // Removes the oldest until `bytes` more are free; how many were freed.
  int64_t Shrink(int64_t bytes);

  int64_t bytes() const;
  std::vector<Item> Items() const;  // oldest first

 private:
  void RemoveOldestLocked();

  const std::string folder_;
  const int64_t limit_items_;
  const int64_t limit_bytes_;
  mutable std::mutex mutex_;
  std::deque<Item> items_;  // oldest first
  int64_t bytes_ = 0;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_QUARANTINE_FOLDER_H_
