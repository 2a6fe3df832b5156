#include "server/cache/disk_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <vector>

#include "compiler/api/sha256.h"
#include "server/cache/disk_file.h"
#include "server/cache/disk_layout.h"
#include "server/cache/disk_stream.h"

namespace fold {
namespace {

namespace fs = std::filesystem;

// A file's time is set at most this often, so that hits are cheap.
constexpr int64_t kTouchSeconds = 60;
constexpr int64_t kQuarantineItems = 64;
// Of the limit, what quarantine may hold.
constexpr int64_t kQuarantineShare = 16;

int64_t NowSeconds() { return static_cast<int64_t>(std::time(nullptr)); }

bool IsGoodKey(const Key& key) {
  return IsSha256Hex(key.hash) && IsInstanceName(key.instance);
}

// Makes a folder and those above it.
absl::Status MakeFolders(const std::string& path) {
  absl::Status status = MakeFolder(path);
  if (!absl::IsNotFound(status)) return status;
  status = MakeFolders(fs::path(path).parent_path());
  return status.ok() ? MakeFolder(path) : status;
}

}  // namespace

DiskStore::DiskStore(DiskStoreOptions options)
    : options_(std::move(options)),
      protection_(Protection::Make(options_.clock)) {}

DiskStore::~DiskStore() {
  if (lock_fd_ >= 0) close(lock_fd_);
}

absl::StatusOr<std::unique_ptr<DiskStore>> DiskStore::Open(
    DiskStoreOptions options) {
  std::unique_ptr<DiskStore> store(new DiskStore(std::move(options)));
  const std::string& root = store->options_.root;
  std::error_code error;
  fs::create_directories(root, error);
  if (error) {
    return absl::InternalError("cannot make " + root + ": " + error.message());
  }
  absl::Status status = store->TakeLock();
  if (status.ok()) status = PrepareLayout(root);
  if (!status.ok()) return status;
  store->quarantine_ = std::make_unique<QuarantineFolder>(
      root + "/quarantine", kQuarantineItems,
      store->options_.limit_bytes / kQuarantineShare);
  store->pins_ = std::make_unique<MarkFolder>(root + "/pins");
  store->SweepTemporary();
  store->LoadPins();
  store->LoadIndex();
  return store;
}

absl::Status DiskStore::TakeLock() {
  std::string path = options_.root + "/lock";
  lock_fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_fd_ < 0) return SystemStatus("open " + path);
  if (flock(lock_fd_, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(options_.root +
                                         " is in use by another server");
  }
  return absl::OkStatus();
}

void DiskStore::SweepTemporary() {
  std::error_code error;
  for (const auto& file :
       fs::directory_iterator(options_.root + "/temp", error)) {
    std::error_code ignored;
    fs::remove_all(file.path(), ignored);
  }
}

void DiskStore::LoadIndex() {
  std::vector<FoundEntry> found;
  ScanEntries(options_.root,
              [&](const FoundEntry& entry) { found.push_back(entry); });
  std::sort(found.begin(), found.end(),
            [](const FoundEntry& a, const FoundEntry& b) {
              if (a.used.tv_sec != b.used.tv_sec) {
                return a.used.tv_sec < b.used.tv_sec;
              }
              if (a.used.tv_nsec != b.used.tv_nsec) {
                return a.used.tv_nsec < b.used.tv_nsec;
              }
              return a.key < b.key;
            });
  std::lock_guard lock(mutex_);
  for (FoundEntry& one : found) {
    used_bytes_ += one.size;
    entries_.push_front({one.key, one.size, one.used.tv_sec});
    index_[one.key] = entries_.begin();
  }
  (void)MakeRoomLocked(0);  // what is pinned may be more than the limit
}

std::string DiskStore::PathOf(const Key& key) const {
  return PathOfEntry(options_.root, key);
}

absl::StatusOr<std::unique_ptr<BlobReader>> DiskStore::OpenBlob(
    const Key& key) {
  if (!Touch(key)) return absl::NotFoundError("not on disk");
  return Peek(key);
}

absl::StatusOr<std::unique_ptr<BlobReader>> DiskStore::Peek(const Key& key) {
  if (SizeOf(key) < 0) return absl::NotFoundError("not on disk");
  auto reader = DiskReader::Open(
      PathOf(key), key.space == Space::kBlob ? key.hash : "",
      [this, key](ino_t inode) { QuarantineFile(key, inode); });
  if (absl::IsNotFound(reader.status())) {
    ForgetIfGone(key);  // removed behind our back, or evicted just now
    return absl::NotFoundError("not on disk");
  }
  if (!reader.ok()) return reader.status();
  return std::unique_ptr<BlobReader>(std::move(*reader));
}

absl::StatusOr<Bytes> DiskStore::Get(const Key& key) {
  if (!Touch(key)) return absl::NotFoundError("not on disk");
  // Unchecked: that is VerifyingStore's part.
  auto reader = DiskReader::Open(PathOf(key), "", [](ino_t) {});
  if (absl::IsNotFound(reader.status())) {
    ForgetIfGone(key);
    return absl::NotFoundError("not on disk");
  }
  if (!reader.ok()) return reader.status();
  auto bytes = std::make_shared<std::string>();
  bytes->reserve(static_cast<size_t>((*reader)->size()));
  for (;;) {
    absl::StatusOr<std::string> piece = (*reader)->Read(kMaxPieceBytes);
    if (!piece.ok()) return piece.status();
    if (piece->empty()) return Bytes(std::move(bytes));
    *bytes += *piece;
  }
}

absl::StatusOr<std::unique_ptr<BlobWriter>> DiskStore::CreateBlob(
    const Key& key, int64_t size) {
  if (!IsGoodKey(key) || size < 0) return absl::InvalidArgumentError("bad key");
  absl::Status status = Reserve(size);
  if (!status.ok()) return status;
  DiskWriter::Hooks hooks;
  hooks.publish = [this, key, size](const std::string& aside) {
    return Publish(aside, key, size);
  };
  hooks.end = [this, size](const absl::Status& end) { EndWrite(size, end); };
  auto writer = DiskWriter::Create(
      options_.root + "/temp/" + std::to_string(next_temporary_++), size,
      key.space == Space::kBlob ? key.hash : "", std::move(hooks));
  if (!writer.ok()) return writer.status();
  return std::unique_ptr<BlobWriter>(std::move(*writer));
}

absl::Status DiskStore::Put(const Key& key, const Bytes& bytes) {
  auto writer = CreateBlob(key, static_cast<int64_t>(bytes->size()));
  if (!writer.ok()) return writer.status();
  absl::Status status = (*writer)->Append(*bytes);
  return status.ok() ? (*writer)->Finish() : status;
}

absl::Status DiskStore::Publish(const std::string& aside, const Key& key,
                                int64_t size) {
  std::string path = PathOf(key);
  std::string folder = fs::path(path).parent_path();
  absl::Status made = MakeFolders(folder);
  if (!made.ok()) return made;
  {
    std::lock_guard lock(mutex_);
    // Under the lock, so that an eviction cannot remove the new file.
    if (rename(aside.c_str(), path.c_str()) != 0) {
      return SystemStatus("rename " + path);
    }
    auto found = index_.find(key);
    if (found != index_.end()) {
      used_bytes_ -= found->second->size;
      entries_.erase(found->second);
    }
    entries_.push_front({key, size, NowSeconds()});
    index_[key] = entries_.begin();
    used_bytes_ += size;  // EndWrite gives the reservation back
  }
  // A crash before this leaves no entry or a whole one; a failure only means
  // that the entry may not survive the machine.
  (void)SyncFolder(folder);
  return absl::OkStatus();
}

void DiskStore::EndWrite(int64_t size, const absl::Status& status) {
  if (!absl::IsCancelled(status)) {
    last_put_failed_ = absl::IsResourceExhausted(status);
  }
  std::lock_guard lock(mutex_);
  used_bytes_ -= size;
  temporary_bytes_ -= size;
}

absl::Status DiskStore::Reserve(int64_t size) {
  std::lock_guard lock(mutex_);
  if (size > options_.limit_bytes) {
    return absl::ResourceExhaustedError(
        std::to_string(size) + " bytes are more than the cache may hold: " +
        std::to_string(options_.limit_bytes));
  }
  absl::Status status = MakeRoomLocked(size);
  if (!status.ok()) return status;
  used_bytes_ += size;
  temporary_bytes_ += size;
  return absl::OkStatus();
}

// All or nothing: evicts no entry if that would not be enough.
absl::Status DiskStore::MakeRoomLocked(int64_t size) {
  int64_t wanted =
      used_bytes_ + quarantine_->bytes() + size - options_.limit_bytes;
  if (wanted > 0) wanted -= quarantine_->Shrink(wanted);
  std::vector<EntryList::iterator> victims;
  for (auto next = entries_.end(); wanted > 0 && next != entries_.begin();) {
    auto entry = std::prev(next);
    if (protection_->Protects(entry->key)) {
      next = entry;
      continue;
    }
    wanted -= entry->size;
    victims.push_back(entry);
    next = entry;
  }
  if (wanted > 0) {
    return absl::ResourceExhaustedError(
        "the cache is full of writes and of entries in use");
  }
  for (auto victim : victims) RemoveLocked(victim);
  evictions_ += static_cast<int64_t>(victims.size());
  return absl::OkStatus();
}

bool DiskStore::UseLocked(const Key& key, bool* set_time) {
  auto found = index_.find(key);
  if (found == index_.end()) return false;
  entries_.splice(entries_.begin(), entries_, found->second);
  int64_t now = NowSeconds();
  *set_time = now - found->second->touched_seconds >= kTouchSeconds;
  if (*set_time) found->second->touched_seconds = now;
  return true;
}

bool DiskStore::Touch(const Key& key) { return TouchFor(key, 0); }

bool DiskStore::TouchFor(const Key& key, int64_t seconds) {
  bool set_time = false;
  {
    std::lock_guard lock(mutex_);
    if (!UseLocked(key, &set_time)) return false;
    if (seconds > 0) protection_->LeaseFor(key, seconds);
  }
  if (set_time) utimensat(AT_FDCWD, PathOf(key).c_str(), nullptr, 0);
  return true;
}

std::optional<Lease> DiskStore::Hold(const Key& key) {
  std::optional<Lease> lease;
  bool set_time = false;
  {
    std::lock_guard lock(mutex_);
    if (!UseLocked(key, &set_time)) return std::nullopt;
    lease.emplace(protection_->Hold(key));
  }
  if (set_time) utimensat(AT_FDCWD, PathOf(key).c_str(), nullptr, 0);
  return lease;
}

absl::Status DiskStore::Remove(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  if (found == index_.end()) return absl::NotFoundError("not on disk");
  if (protection_->IsHeld(key)) {
    return absl::FailedPreconditionError("it is in use");
  }
  if (protection_->IsPinned(key)) {
    return absl::FailedPreconditionError("it is pinned");
  }
  protection_->EndTimeLease(key);
  RemoveLocked(found->second);
  return absl::OkStatus();
}

void DiskStore::Quarantine(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  if (found != index_.end()) QuarantineLocked(found->second);
}

void DiskStore::QuarantineLocked(EntryList::iterator entry) {
  Key key = entry->key;
  int64_t size = entry->size;
  used_bytes_ -= size;
  index_.erase(key);
  entries_.erase(entry);
  quarantine_->Take(PathOf(key), key, size);
}

// Only if the file is still the one that was read: another write may have put
// the right bytes there since.
void DiskStore::QuarantineFile(const Key& key, ino_t inode) {
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  struct stat status;
  if (found == index_.end() || lstat(PathOf(key).c_str(), &status) != 0 ||
      status.st_ino != inode) {
    return;
  }
  QuarantineLocked(found->second);
}

void DiskStore::RemoveLocked(EntryList::iterator entry) {
  unlink(PathOf(entry->key).c_str());
  used_bytes_ -= entry->size;
  index_.erase(entry->key);
  entries_.erase(entry);
}

void DiskStore::ForgetIfGone(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  if (found == index_.end()) return;
  if (access(PathOf(key).c_str(), F_OK) == 0) return;  // written again since
  RemoveLocked(found->second);
}

absl::Status DiskStore::Health() const {
  int64_t free = free_bytes();
  if (free < options_.min_free_bytes) {
    return absl::ResourceExhaustedError(
        "the disk is full: " + std::to_string(free) + " bytes free, " +
        std::to_string(options_.min_free_bytes) + " needed");
  }
  if (last_put_failed_) {
    return absl::ResourceExhaustedError("the last write found no room");
  }
  return absl::OkStatus();
}

std::vector<DiskStore::EntryRecord> DiskStore::Entries() const {
  std::lock_guard lock(mutex_);
  std::vector<EntryRecord> out;
  out.reserve(entries_.size());
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    out.push_back({entry->key, entry->size});
  }
  return out;
}

int64_t DiskStore::SizeOf(const Key& key) const {
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  return found == index_.end() ? -1 : found->second->size;
}

int64_t DiskStore::used_bytes() const {
  std::lock_guard lock(mutex_);
  return used_bytes_;
}

int64_t DiskStore::temporary_bytes() const {
  std::lock_guard lock(mutex_);
  return temporary_bytes_;
}

int64_t DiskStore::free_bytes() const {
  struct statvfs status;
  if (statvfs(options_.root.c_str(), &status) != 0) return 0;
  return static_cast<int64_t>(status.f_bavail) *
         static_cast<int64_t>(status.f_frsize);
}

}  // namespace fold
