// System calls on files, with errors as statuses. A full disk is
// RESOURCE_EXHAUSTED.
#ifndef FOLD_SERVER_CACHE_DISK_FILE_H_
#define FOLD_SERVER_CACHE_DISK_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fold {

// Owns a descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  const int fd_;
};

// The status of the last system call that failed.
absl::Status SystemStatus(const std::string& what);

absl::Status SyncFolder(const std::string& path);
// Makes a folder, and syncs the one that it is in, if it was not there.
absl::Status MakeFolder(const std::string& path);

absl::Status WriteAll(int fd, std::string_view bytes);
// Fills `bytes`. DATA_LOSS: the file ends before.
absl::Status ReadAll(int fd, std::string* bytes);

// The whole of a file of at most `limit` bytes; NOT_FOUND if there is none.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path,
                                          size_t limit);
// Writes `path` whole or not at all, for good: aside, synced, renamed.
absl::Status WriteFileDurably(const std::string& path, std::string_view bytes);

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_DISK_FILE_H_
