#include "server/cache/disk_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace fold {
namespace {

constexpr size_t kChunkBytes = 1 << 20;

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

absl::Status SystemStatus(const std::string& what) {
  int error = errno;
  std::string message = what + ": " + std::strerror(error);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    return absl::ResourceExhaustedError(message);
  }
  if (error == ENOENT) return absl::NotFoundError(message);
  return absl::InternalError(message);
}

absl::Status SyncFolder(const std::string& path) {
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid() || fsync(folder.get()) != 0) {
    return SystemStatus("sync " + path);
  }
  return absl::OkStatus();
}

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) {
    return SyncFolder(std::filesystem::path(path).parent_path());
  }
  return errno == EEXIST ? absl::OkStatus() : SystemStatus("mkdir " + path);
}

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    std::string_view chunk = bytes.substr(0, kChunkBytes);
    ssize_t wrote = write(fd, chunk.data(), chunk.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return SystemStatus("write");
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return absl::OkStatus();
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

absl::StatusOr<std::string> ReadSmallFile(const std::string& path,
                                          size_t limit) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status;
  if (!file.valid() || fstat(file.get(), &status) != 0) {
    return SystemStatus("open " + path);
  }
  if (!S_ISREG(status.st_mode) || status.st_size > static_cast<off_t>(limit)) {
    return absl::InvalidArgumentError(path + " is not what it should be");
  }
  std::string text(static_cast<size_t>(status.st_size), '\0');
  absl::Status read = ReadAll(file.get(), &text);
  if (!read.ok()) return read;
  return text;
}

absl::Status WriteFileDurably(const std::string& path, std::string_view bytes) {
  std::string aside = path + ".new";
  absl::Status status;
  {
    Descriptor file(open(aside.c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                         0600));
    if (!file.valid()) return SystemStatus("create " + aside);
    status = WriteAll(file.get(), bytes);
    if (status.ok() && fsync(file.get()) != 0) {
      status = SystemStatus("sync " + aside);
    }
  }
  if (status.ok() && rename(aside.c_str(), path.c_str()) != 0) {
    status = SystemStatus("rename " + path);
  }
  if (!status.ok()) {
    unlink(aside.c_str());
    return status;
  }
  return SyncFolder(std::filesystem::path(path).parent_path());
}

}  // namespace fold
