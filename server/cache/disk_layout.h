// Where things are in a store's folder, and which version of that it has.
//
//   ROOT/format                   "foldd-cache 2"
//   ROOT/lock                     held while a server uses the folder
//   ROOT/instances/NAME/blobs/ab/abcd…   an entry a file, under its hash;
//   ROOT/instances/NAME/actions/…        "_" is the default instance
//   ROOT/instances/NAME/manifests/…
//   ROOT/pins/…, ROOT/recalls/…   marks (server/cache/mark_folder.h)
//   ROOT/temp/…                   files being written; swept at the start
//   ROOT/quarantine/…             entries that were found to be wrong
//
// Version 1 had blobs, actions and manifests in ROOT itself.
#ifndef FOLD_SERVER_CACHE_DISK_LAYOUT_H_
#define FOLD_SERVER_CACHE_DISK_LAYOUT_H_

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/cache/store.h"

namespace fold {

const char* FolderOf(Space space);
std::string PathOfEntry(const std::string& root, const Key& key);

// "INSTANCE~blobs~HASH", with "_" for the default instance: the name of an
// entry outside of its own folder.
std::string FlatName(const Key& key);
std::optional<Key> ParseFlatName(std::string_view name);

// Brings ROOT to this version: makes what is missing, or moves what version 1
// left. A kill at any step leaves a folder that the next call finishes, and
// that version 1 refuses. FAILED_PRECONDITION: a newer version wrote it.
absl::Status PrepareLayout(const std::string& root);

// Whether ROOT has this version, and is whole.
bool HasCurrentFormat(const std::string& root);
// Around the making of a copy in an empty ROOT: in between, every server
// refuses it.
absl::Status BeginCopy(const std::string& root);
absl::Status EndCopy(const std::string& root);

struct FoundEntry {
  Key key;
  int64_t size = 0;
  timespec used{};  // when it was last used
};
// Calls `found` for each entry's file, in no order. What is no entry's file is
// passed over.
void ScanEntries(const std::string& root,
                 const std::function<void(const FoundEntry&)>& found);

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_DISK_LAYOUT_H_
