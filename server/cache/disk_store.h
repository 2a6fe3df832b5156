// The embedded store: a folder (server/cache/disk_layout.h has its layout).
//
// A write reserves its bytes under the limit (evicting the least recently
// used), writes aside, hashes what it wrote, syncs, renames, and syncs the
// folder: a file under its final name is whole. One order of use and one limit
// stand over all instances; what waits in quarantine counts, too, and goes
// before any entry does.
#ifndef FOLD_SERVER_CACHE_DISK_STORE_H_
#define FOLD_SERVER_CACHE_DISK_STORE_H_

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/cache/blob_stream.h"
#include "server/cache/mark_folder.h"
#include "server/cache/protection.h"
#include "server/cache/quarantine_folder.h"
#include "server/cache/store.h"

namespace fold {

struct DiskStoreOptions {
  std::string root;
  int64_t limit_bytes = 0;     // of entries, temporary files and quarantine
  int64_t min_free_bytes = 0;  // below this the disk counts as full
  SecondsClock clock = SteadySeconds;  // of leases
};

class DiskStore : public Store {
 public:
  // Makes the folder if need be, takes its lock, brings it to this version,
  // sweeps temporary files and loads the index. FAILED_PRECONDITION: another
  // server has it, or a newer version wrote it.
  static absl::StatusOr<std::unique_ptr<DiskStore>> Open(
      DiskStoreOptions options);
  ~DiskStore() override;

  absl::StatusOr<Bytes> Get(const Key& key) override;
  absl::Status Put(const Key& key, const Bytes& bytes) override;
  bool Touch(const Key& key) override;
  void Quarantine(const Key& key) override;
  std::optional<Lease> Hold(const Key& key) override;

  // A reader of an entry, which stays readable though it be evicted. Blobs
  // are checked against their keys on the way. NOT_FOUND.
  absl::StatusOr<std::unique_ptr<BlobReader>> OpenBlob(const Key& key);
  // The same, but does not count as a use.
  absl::StatusOr<std::unique_ptr<BlobReader>> Peek(const Key& key);
  // A writer of an entry of `size` bytes, whose room is reserved.
  // RESOURCE_EXHAUSTED: there is none.
  absl::StatusOr<std::unique_ptr<BlobWriter>> CreateBlob(const Key& key,
                                                         int64_t size);
  // Touch, and a lease of `seconds` if it is there.
  bool TouchFor(const Key& key, int64_t seconds);
  // Forgets an entry now. FAILED_PRECONDITION: it is held or pinned.
  // NOT_FOUND.
  absl::Status Remove(const Key& key);

  // Keeps `keys` until Unpin(name), also over restarts. `note` is for people.
  // RESOURCE_EXHAUSTED: pins would hold more than three quarters of the limit.
  // NOT_FOUND: a key is not there.
  absl::Status Pin(const Key& name, const std::vector<Key>& keys,
                   const std::string& note);
  absl::Status Unpin(const Key& name);
  struct PinRecord {
    Key name;
    std::string note;
    std::vector<Key> keys;
  };
  std::vector<PinRecord> Pins() const;
  int64_t pinned_bytes() const;

  struct EntryRecord {
    Key key;
    int64_t size = 0;
  };
  std::vector<EntryRecord> Entries() const;  // least recently used first
  int64_t SizeOf(const Key& key) const;      // -1: not there
  const QuarantineFolder& quarantine() const { return *quarantine_; }
  // For leases that may begin before the entry is there.
  Protection& protection() { return *protection_; }

  // OK, or why nothing more can be written.
  absl::Status Health() const;
  const std::string& root() const { return options_.root; }
  int64_t limit_bytes() const { return options_.limit_bytes; }
  int64_t used_bytes() const;       // entries and temporary files
  int64_t temporary_bytes() const;  // of `used_bytes`
  int64_t free_bytes() const;       // of the file system
  int64_t evictions() const { return evictions_; }

 private:
  struct Entry {
    Key key;
    int64_t size = 0;
    int64_t touched_seconds = 0;  // when the file's time was last set
  };
  using EntryList = std::list<Entry>;

  explicit DiskStore(DiskStoreOptions options);
  absl::Status TakeLock();
  void SweepTemporary();
  void LoadPins();
  void LoadIndex();
  std::string PathOf(const Key& key) const;
  // Makes room for `size` bytes and counts them as used.
  absl::Status Reserve(int64_t size);
  absl::Status MakeRoomLocked(int64_t size);
  void EndWrite(int64_t size, const absl::Status& status);
  absl::Status Publish(const std::string& aside, const Key& key, int64_t size);
  void RemoveLocked(EntryList::iterator entry);
  void QuarantineLocked(EntryList::iterator entry);
  void QuarantineFile(const Key& key, ino_t inode);
  void ForgetIfGone(const Key& key);
  bool UseLocked(const Key& key, bool* set_time);

  const DiskStoreOptions options_;
  const std::shared_ptr<Protection> protection_;
  std::unique_ptr<QuarantineFolder> quarantine_;
  std::unique_ptr<MarkFolder> pins_;
  int lock_fd_ = -1;
  std::atomic<int64_t> next_temporary_{0};
  std::atomic<int64_t> evictions_{0};
  std::atomic<bool> last_put_failed_{false};
  mutable std::mutex mutex_;
  int64_t used_bytes_ = 0;       // entries and reservations
  int64_t temporary_bytes_ = 0;  // reservations
  EntryList entries_;            // most recently used first
  std::unordered_map<Key, EntryList::iterator, KeyHash> index_;
  mutable std::mutex pin_mutex_;  // taken before mutex_
  std::map<Key, PinRecord> pin_records_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_DISK_STORE_H_
