#include "server/cache/disk_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <vector>

#include "compiler/api/sha256.h"

namespace fold {
namespace {

namespace fs = std::filesystem;

constexpr char kFormat[] = "foldd-cache 1\n";
constexpr size_t kChunkBytes = 1 << 20;
// A file's time is set at most this often, so that hits are cheap.
constexpr int64_t kTouchSeconds = 60;

const char* FolderOf(Space space) {
  switch (space) {
    case Space::kBlob:
      return "blobs";
    case Space::kAction:
      return "actions";
    case Space::kManifest:
      return "manifests";
  }
  return "";
}

// The status of the last system call that failed.
absl::Status SystemStatus(const std::string& what) {
  int error = errno;
  std::string message = what + ": " + std::strerror(error);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    return absl::ResourceExhaustedError(message);
  }
  return absl::InternalError(message);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

absl::Status SyncFolder(const std::string& path) {
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid() || fsync(folder.get()) != 0) {
    return SystemStatus("sync " + path);
  }
  return absl::OkStatus();
}

// Makes a folder and syncs the one that it is in, if it was not there.
absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) {
    return SyncFolder(fs::path(path).parent_path());
  }
  return errno == EEXIST ? absl::OkStatus() : SystemStatus("mkdir " + path);
}

// Writes all of `bytes`, and returns the hash of what was written.
absl::StatusOr<std::string> WriteHashing(int fd, std::string_view bytes) {
  Sha256 hash;
  while (!bytes.empty()) {
    std::string_view chunk = bytes.substr(0, kChunkBytes);
    ssize_t wrote = write(fd, chunk.data(), chunk.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return SystemStatus("write");
    hash.Update(chunk.substr(0, static_cast<size_t>(wrote)));
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return hash.Finish();
}

absl::Status ReadAll(int fd, std::string* bytes) {
  size_t have = 0;
  while (have < bytes->size()) {
    ssize_t got = read(fd, bytes->data() + have, bytes->size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemStatus("read");
    if (got == 0) return absl::DataLossError("file shorter than it was");
    have += static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

int64_t NowSeconds() { return static_cast<int64_t>(std::time(nullptr)); }

}  // namespace

DiskStore::DiskStore(DiskStoreOptions options) : options_(std::move(options)) {}

DiskStore::~DiskStore() {
  if (lock_fd_ >= 0) close(lock_fd_);
}

absl::StatusOr<std::unique_ptr<DiskStore>> DiskStore::Open(
    DiskStoreOptions options) {
  std::unique_ptr<DiskStore> store(new DiskStore(std::move(options)));
  for (auto step : {&DiskStore::MakeFolders, &DiskStore::TakeLock,
                    &DiskStore::CheckFormat}) {
    absl::Status status = (store.get()->*step)();
    if (!status.ok()) return status;
  }
  store->SweepTemporary();
  store->LoadIndex();
  return store;
}

absl::Status DiskStore::MakeFolders() {
  std::error_code error;
  fs::create_directories(options_.root, error);
  if (error) {
    return absl::InternalError("cannot make " + options_.root + ": " +
                               error.message());
  }
  for (const char* name :
       {"blobs", "actions", "manifests", "temp", "quarantine"}) {
    absl::Status status = MakeFolder(options_.root + "/" + name);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
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

absl::Status DiskStore::CheckFormat() {
  std::string path = options_.root + "/format";
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) return SystemStatus("open " + path);
  char text[64] = {};
  ssize_t got = read(file.get(), text, sizeof(text) - 1);
  if (got < 0) return SystemStatus("read " + path);
  if (got > 0) {
    if (std::strcmp(text, kFormat) == 0) return absl::OkStatus();
    return absl::FailedPreconditionError(
        options_.root + " has another format than this server writes");
  }
  absl::StatusOr<std::string> wrote = WriteHashing(file.get(), kFormat);
  if (!wrote.ok()) return wrote.status();
  if (fsync(file.get()) != 0) return SystemStatus("sync " + path);
  return SyncFolder(options_.root);
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
  struct Found {
    timespec time;
    Key key;
    int64_t size;
  };
  std::vector<Found> found;
  for (Space space : kSpaces) {
    std::error_code error;
    fs::recursive_directory_iterator files(
        options_.root + "/" + FolderOf(space), error);
    for (; files != fs::recursive_directory_iterator();
         files.increment(error)) {
      if (error) break;
      struct stat status;
      std::string name = files->path().filename();
      if (!IsSha256Hex(name) || lstat(files->path().c_str(), &status) != 0 ||
          !S_ISREG(status.st_mode)) {
        continue;
      }
      found.push_back({status.st_mtim, {space, name}, status.st_size});
    }
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    if (a.time.tv_sec != b.time.tv_sec) return a.time.tv_sec < b.time.tv_sec;
    if (a.time.tv_nsec != b.time.tv_nsec) {
      return a.time.tv_nsec < b.time.tv_nsec;
    }
    return a.key < b.key;
  });
  std::lock_guard lock(mutex_);
  for (Found& one : found) {
    used_bytes_ += one.size;
    entries_.push_front({one.key, one.size, one.time.tv_sec});
    index_[one.key] = entries_.begin();
  }
  while (used_bytes_ > options_.limit_bytes && !entries_.empty()) {
    RemoveLocked(std::prev(entries_.end()));
    ++evictions_;
  }
}

std::string DiskStore::PathOf(const Key& key) const {
  return options_.root + "/" + FolderOf(key.space) + "/" +
         key.hash.substr(0, 2) + "/" + key.hash;
}

absl::StatusOr<Bytes> DiskStore::Get(const Key& key) {
  if (!Touch(key)) return absl::NotFoundError("not on disk");
  std::string path = PathOf(key);
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status;
  if (!file.valid() || fstat(file.get(), &status) != 0) {
    bool gone = errno == ENOENT;
    absl::Status failed = SystemStatus("open " + path);
    if (!gone) return failed;
    Forget(key);  // removed behind our back, or evicted just now
    return absl::NotFoundError("not on disk");
  }
  auto bytes = std::make_shared<std::string>();
  bytes->resize(static_cast<size_t>(status.st_size));
  absl::Status read = ReadAll(file.get(), bytes.get());
  if (!read.ok()) return read;
  return Bytes(std::move(bytes));
}

absl::Status DiskStore::Put(const Key& key, const Bytes& bytes) {
  if (!IsSha256Hex(key.hash)) return absl::InvalidArgumentError("bad key");
  auto size = static_cast<int64_t>(bytes->size());
  absl::Status status = Reserve(size);
  if (!status.ok()) return status;
  std::string aside =
      options_.root + "/temp/" + std::to_string(next_temporary_++);
  status = WriteAside(aside, key, *bytes);
  if (status.ok()) status = Publish(aside, key, size);
  if (!status.ok()) {
    unlink(aside.c_str());
    Release(size);
  }
  last_put_failed_ = absl::IsResourceExhausted(status);
  return status;
}

absl::Status DiskStore::WriteAside(const std::string& path, const Key& key,
                                   const std::string& bytes) {
  Descriptor file(open(path.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                       0600));
  if (!file.valid()) return SystemStatus("create " + path);
  // Asking for the space first makes a full disk fail here, and not halfway.
  if (!bytes.empty()) {
    int error =
        posix_fallocate(file.get(), 0, static_cast<off_t>(bytes.size()));
    if (error == ENOSPC || error == EFBIG) {
      errno = error;
      return SystemStatus("reserve " + path);
    }
  }
  absl::StatusOr<std::string> hash = WriteHashing(file.get(), bytes);
  if (!hash.ok()) return hash.status();
  if (key.space == Space::kBlob && *hash != key.hash) {
    return absl::InvalidArgumentError("the bytes are not those of the key");
  }
  if (fsync(file.get()) != 0) return SystemStatus("sync " + path);
  return absl::OkStatus();
}

absl::Status DiskStore::Publish(const std::string& aside, const Key& key,
                                int64_t size) {
  std::string path = PathOf(key);
  std::string folder = fs::path(path).parent_path();
  absl::Status made = MakeFolder(folder);
  if (!made.ok()) return made;
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
  // A crash before this leaves no entry or a whole one; a failure only means
  // that the entry may not survive the machine.
  (void)SyncFolder(folder);
  return absl::OkStatus();
}

absl::Status DiskStore::Reserve(int64_t size) {
  std::lock_guard lock(mutex_);
  if (size > options_.limit_bytes) {
    return absl::ResourceExhaustedError(
        std::to_string(size) + " bytes are more than the cache may hold: " +
        std::to_string(options_.limit_bytes));
  }
  while (used_bytes_ + size > options_.limit_bytes) {
    if (entries_.empty()) {
      return absl::ResourceExhaustedError("the cache is full of writes");
    }
    RemoveLocked(std::prev(entries_.end()));
    ++evictions_;
  }
  used_bytes_ += size;
  return absl::OkStatus();
}

void DiskStore::Release(int64_t size) {
  std::lock_guard lock(mutex_);
  used_bytes_ -= size;
}

bool DiskStore::Touch(const Key& key) {
  bool set_time = false;
  {
    std::lock_guard lock(mutex_);
    auto found = index_.find(key);
    if (found == index_.end()) return false;
    entries_.splice(entries_.begin(), entries_, found->second);
    int64_t now = NowSeconds();
    set_time = now - found->second->touched_seconds >= kTouchSeconds;
    if (set_time) found->second->touched_seconds = now;
  }
  if (set_time) utimensat(AT_FDCWD, PathOf(key).c_str(), nullptr, 0);
  return true;
}

void DiskStore::Quarantine(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  if (found == index_.end()) return;
  std::string to =
      options_.root + "/quarantine/" + FolderOf(key.space) + "-" + key.hash;
  if (rename(PathOf(key).c_str(), to.c_str()) != 0) unlink(PathOf(key).c_str());
  used_bytes_ -= found->second->size;
  entries_.erase(found->second);
  index_.erase(found);
}

void DiskStore::RemoveLocked(EntryList::iterator entry) {
  unlink(PathOf(entry->key).c_str());
  used_bytes_ -= entry->size;
  index_.erase(entry->key);
  entries_.erase(entry);
}

void DiskStore::Forget(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  if (found != index_.end()) RemoveLocked(found->second);
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

int64_t DiskStore::used_bytes() const {
  std::lock_guard lock(mutex_);
  return used_bytes_;
}

int64_t DiskStore::free_bytes() const {
  struct statvfs status;
  if (statvfs(options_.root.c_str(), &status) != 0) return 0;
  return static_cast<int64_t>(status.f_bavail) *
         static_cast<int64_t>(status.f_frsize);
}

}  // namespace fold
