// The embedded store: a folder.
//
//   ROOT/format                 the version of this layout
//   ROOT/lock                   held while a server uses the folder
//   ROOT/blobs/ab/abcd…         an entry a file, under its hash
//   ROOT/actions/…, manifests/…
//   ROOT/temp/…                 files being written; swept at the start
//   ROOT/quarantine/…           entries that were found to be wrong
//
// A Put reserves its bytes under the limit (evicting the least recently used),
// writes aside, hashes what it wrote, syncs, renames, and syncs the folder: a
// file under its final name is whole. Eviction takes the least recently used.
#ifndef FOLD_SERVER_CACHE_DISK_STORE_H_
#define FOLD_SERVER_CACHE_DISK_STORE_H_

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "server/cache/store.h"

namespace fold {

struct DiskStoreOptions {
  std::string root;
  int64_t limit_bytes = 0;     // of all entries and temporary files
  int64_t min_free_bytes = 0;  // below this the disk counts as full
};

class DiskStore : public Store {
 public:
  // Makes the folder if need be, takes its lock, sweeps temporary files and
  // loads the index. FAILED_PRECONDITION: another server has it, or another
  // version wrote it.
  static absl::StatusOr<std::unique_ptr<DiskStore>> Open(
      DiskStoreOptions options);
  ~DiskStore() override;

  absl::StatusOr<Bytes> Get(const Key& key) override;
  absl::Status Put(const Key& key, const Bytes& bytes) override;
  bool Touch(const Key& key) override;
  void Quarantine(const Key& key) override;

  // OK, or why nothing more can be written.
  absl::Status Health() const;
  int64_t used_bytes() const;
  int64_t free_bytes() const;  // of the file system
  int64_t evictions() const { return evictions_; }

 private:
  struct Entry {
    Key key;
    int64_t size = 0;
    int64_t touched_seconds = 0;  // when the file's time was last set
  };
  using EntryList = std::list<Entry>;

  explicit DiskStore(DiskStoreOptions options);
  absl::Status MakeFolders();
  absl::Status TakeLock();
  absl::Status CheckFormat();
  void SweepTemporary();
  void LoadIndex();
  std::string PathOf(const Key& key) const;
  // Makes room for `size` bytes and counts them as used.
  absl::Status Reserve(int64_t size);
  void Release(int64_t size);
  absl::Status WriteAside(const std::string& path, const Key& key,
                          const std::string& bytes);
  absl::Status Publish(const std::string& aside, const Key& key, int64_t size);
  void RemoveLocked(EntryList::iterator entry);
  void Forget(const Key& key);

  const DiskStoreOptions options_;
  int lock_fd_ = -1;
  std::atomic<int64_t> next_temporary_{0};
  std::atomic<int64_t> evictions_{0};
  std::atomic<bool> last_put_failed_{false};
  mutable std::mutex mutex_;
  int64_t used_bytes_ = 0;  // entries and reservations
  EntryList entries_;       // most recently used first
  std::unordered_map<Key, EntryList::iterator, KeyHash> index_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_DISK_STORE_H_
