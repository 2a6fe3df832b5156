#include "server/telemetry/otlp_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace fold {
namespace {

absl::Status ErrnoStatus(const std::string& path) {
  return absl::UnavailableError(path + ": " + std::strerror(errno));
}

}  // namespace

absl::StatusOr<std::unique_ptr<OtlpFileSender>> OtlpFileSender::Open(
    const std::string& path, int64_t limit_bytes) {
  std::unique_ptr<OtlpFileSender> sender(new OtlpFileSender(path, limit_bytes));
  absl::Status status = sender->Reopen();
  if (!status.ok()) return status;
  return sender;
}

OtlpFileSender::~OtlpFileSender() {
  if (fd_ >= 0) close(fd_);
}

absl::Status OtlpFileSender::Reopen() {
  if (fd_ >= 0) close(fd_);
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  struct stat status;
  if (fd_ < 0 || fstat(fd_, &status) != 0) return ErrnoStatus(path_);
  size_ = status.st_size;
  return absl::OkStatus();
}

absl::Status OtlpFileSender::Rotate() {
  if (std::rename(path_.c_str(), (path_ + ".1").c_str()) != 0 &&
      errno != ENOENT) {
    return ErrnoStatus(path_);
  }
  return Reopen();
}

absl::Status OtlpFileSender::Write(const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    ssize_t wrote = write(fd_, rest.data(), rest.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      absl::Status status = ErrnoStatus(path_);
      (void)!ftruncate(fd_, size_);
      return status;
    }
    rest.remove_prefix(static_cast<size_t>(wrote));
  }
  size_ += static_cast<int64_t>(line.size());
  return absl::OkStatus();
}

SendResult OtlpFileSender::Send(const std::string& request,
                                std::chrono::milliseconds) {
  std::string line = request + "\n";
  absl::Status status;
  if (size_ > 0 && size_ + static_cast<int64_t>(line.size()) > limit_bytes_) {
    status = Rotate();
  }
  if (status.ok() && fd_ < 0) status = Reopen();
  if (status.ok()) status = Write(line);
  SendResult result;
  if (!status.ok()) {
    result.kind = SendResult::Kind::kRefused;
    result.why = std::string(status.message());
  }
  return result;
}

}  // namespace fold
