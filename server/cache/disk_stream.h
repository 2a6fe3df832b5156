// Readers and writers of a DiskStore's files.
#ifndef FOLD_SERVER_CACHE_DISK_STREAM_H_
#define FOLD_SERVER_CACHE_DISK_STREAM_H_

#include <functional>
#include <memory>
#include <string>

#include "compiler/api/sha256.h"
#include "server/cache/blob_stream.h"
#include "server/cache/disk_file.h"

namespace fold {

class DiskReader : public BlobReader {
 public:
  // `on_wrong` is called once, with the inode of the file, if the bytes are
  // not those of `hash`; an empty hash stands for any bytes. NOT_FOUND: no
  // such file.
  static absl::StatusOr<std::unique_ptr<DiskReader>> Open(
      const std::string& path, std::string hash,
      std::function<void(ino_t)> on_wrong);

  int64_t size() const override { return size_; }
  absl::Status Skip(int64_t bytes) override;
  absl::StatusOr<std::string> Read(int64_t limit) override;

 private:
  DiskReader(int fd, std::string hash, std::function<void(ino_t)> on_wrong)
      : file_(fd), hash_(std::move(hash)), on_wrong_(std::move(on_wrong)) {}
  absl::Status Check();
  absl::Status Wrong(const std::string& why);

  const Descriptor file_;
  const std::string hash_;
  const std::function<void(ino_t)> on_wrong_;
  ino_t inode_ = 0;
  int64_t size_ = 0;
  int64_t done_ = 0;
  bool checked_ = false;
  absl::Status failed_;
  Sha256 sum_;
};

class DiskWriter : public BlobWriter {
 public:
  // `publish` moves the finished file to its name. `end` is called once, with
  // how it ended; CANCELLED: it was abandoned.
  struct Hooks {
    std::function<absl::Status(const std::string& aside)> publish;
    std::function<void(const absl::Status&)> end;
  };
  // Makes the file and asks the disk for its room. `end` is called also if
  // that fails.
  static absl::StatusOr<std::unique_ptr<DiskWriter>> Create(std::string aside,
                                                            int64_t size,
                                                            std::string hash,
                                                            Hooks hooks);
  ~DiskWriter() override;

  absl::Status Append(std::string_view bytes) override;
  int64_t committed() const override { return done_; }
  absl::Status Finish() override;

 private:
  DiskWriter(std::string aside, int64_t size, std::string hash, Hooks hooks);
  absl::Status MakeFile();
  absl::Status CheckAndPublish();
  void End(const absl::Status& status);

  const std::string aside_;
  const int64_t size_;
  const std::string hash_;
  const Hooks hooks_;
  std::unique_ptr<Descriptor> file_;
  int64_t done_ = 0;
  bool ended_ = false;
  Sha256 sum_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_DISK_STREAM_H_
