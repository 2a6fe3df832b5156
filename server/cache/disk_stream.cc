#include "server/cache/disk_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace fold {

absl::StatusOr<std::unique_ptr<DiskReader>> DiskReader::Open(
    const std::string& path, std::string hash,
    std::function<void(ino_t)> on_wrong) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return SystemStatus("open " + path);
  std::unique_ptr<DiskReader> reader(
      new DiskReader(fd, std::move(hash), std::move(on_wrong)));
  struct stat status;
  if (fstat(fd, &status) != 0) return SystemStatus("stat " + path);
  reader->inode_ = status.st_ino;
  reader->size_ = status.st_size;
  return reader;
}

absl::Status DiskReader::Wrong(const std::string& why) {
  failed_ = absl::DataLossError(why);
  on_wrong_(inode_);
  return failed_;
}

// Called once all bytes have been read, before the last of them goes out.
absl::Status DiskReader::Check() {
  if (checked_) return absl::OkStatus();
  checked_ = true;
  if (!hash_.empty() && sum_.Finish() != hash_) {
    return Wrong("an entry's bytes are not what was written");
  }
  return absl::OkStatus();
}

absl::Status DiskReader::Skip(int64_t bytes) {
  if (bytes < 0 || bytes > size_ - done_) {
    return absl::OutOfRangeError("the blob ends before");
  }
  while (bytes > 0) {
    absl::StatusOr<std::string> piece = Read(bytes);
    if (!piece.ok()) return piece.status();
    bytes -= static_cast<int64_t>(piece->size());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> DiskReader::Read(int64_t limit) {
  if (!failed_.ok()) return failed_;
  if (limit < 1) return absl::InvalidArgumentError("no bytes asked for");
  int64_t wanted = std::min({limit, kMaxPieceBytes, size_ - done_});
  std::string piece(static_cast<size_t>(wanted), '\0');
  absl::Status read = ReadAll(file_.get(), &piece);
  if (absl::IsDataLoss(read)) return Wrong(std::string(read.message()));
  if (!read.ok()) return failed_ = read;
  sum_.Update(piece);
  done_ += wanted;
  if (done_ == size_) {
    absl::Status checked = Check();
    if (!checked.ok()) return checked;
  }
  return piece;
}

DiskWriter::DiskWriter(std::string aside, int64_t size, std::string hash,
                       Hooks hooks)
    : aside_(std::move(aside)),
      size_(size),
      hash_(std::move(hash)),
      hooks_(std::move(hooks)) {}

absl::StatusOr<std::unique_ptr<DiskWriter>> DiskWriter::Create(
    std::string aside, int64_t size, std::string hash, Hooks hooks) {
  std::unique_ptr<DiskWriter> writer(new DiskWriter(
      std::move(aside), size, std::move(hash), std::move(hooks)));
  absl::Status made = writer->MakeFile();
  if (!made.ok()) return made;
  return writer;
}

absl::Status DiskWriter::MakeFile() {
  file_ = std::make_unique<Descriptor>(
      open(aside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
           0600));
  absl::Status status;
  if (!file_->valid()) {
    status = SystemStatus("create " + aside_);
  } else if (size_ > 0) {
    // Asking for the space first makes a full disk fail here, not halfway.
    int error = posix_fallocate(file_->get(), 0, static_cast<off_t>(size_));
    if (error == ENOSPC || error == EFBIG) {
      errno = error;
      status = SystemStatus("reserve " + aside_);
    }
  }
  if (!status.ok()) End(status);
  return status;
}

DiskWriter::~DiskWriter() { End(absl::CancelledError("abandoned")); }

void DiskWriter::End(const absl::Status& status) {
  if (ended_) return;
  ended_ = true;
  file_.reset();
  if (!status.ok()) unlink(aside_.c_str());
  hooks_.end(status);
}

absl::Status DiskWriter::Append(std::string_view bytes) {
  if (ended_) return absl::FailedPreconditionError("the write has ended");
  if (static_cast<int64_t>(bytes.size()) > size_ - done_) {
    absl::Status status =
        absl::InvalidArgumentError("more bytes than were announced");
    End(status);
    return status;
  }
  absl::Status status = WriteAll(file_->get(), bytes);
  if (!status.ok()) {
    End(status);
    return status;
  }
  sum_.Update(bytes);
  done_ += static_cast<int64_t>(bytes.size());
  return absl::OkStatus();
}

absl::Status DiskWriter::CheckAndPublish() {
  if (done_ != size_) {
    return absl::InvalidArgumentError("fewer bytes than were announced");
  }
  if (!hash_.empty() && sum_.Finish() != hash_) {
    return absl::InvalidArgumentError("the bytes are not those of the key");
  }
  if (fsync(file_->get()) != 0) return SystemStatus("sync " + aside_);
  return hooks_.publish(aside_);
}

absl::Status DiskWriter::Finish() {
  if (ended_) return absl::FailedPreconditionError("the write has ended");
  absl::Status status = CheckAndPublish();
  End(status);
  return status;
}

}  // namespace fold
