// Copies a store's folder, with every hash checked: a backup is such a copy,
// and a restore the way back. The source may be in use: each of its files is
// whole at any time, and what is evicted meanwhile is passed over.
#ifndef FOLD_SERVER_CACHE_BACKUP_H_
#define FOLD_SERVER_CACHE_BACKUP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace fold {

struct CopyCounts {
  int64_t entries = 0;
  int64_t bytes = 0;
  int64_t marks = 0;               // pins and recalls
  std::vector<std::string> wrong;  // entries that were left out, by name
};

// FAILED_PRECONDITION: `from` is no store of this version, or `to` holds
// something already. What is in `to` after an error is refused by servers.
absl::Status CopyCache(const std::string& from, const std::string& to,
                       CopyCounts* counts);

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_BACKUP_H_
