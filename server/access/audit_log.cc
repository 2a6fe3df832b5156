#include "server/access/audit_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "spdlog/spdlog.h"

namespace fold {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kSyncLimit{10'000};
constexpr char kPrefix[] = "audit-";
constexpr char kSuffix[] = ".jsonl";

std::string FileName(int64_t number) {
  char name[40];
  std::snprintf(name, sizeof(name), "%s%06lld%s", kPrefix,
                static_cast<long long>(number), kSuffix);
  return name;
}

// 0 if it is no file of ours.
int64_t NumberOf(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return 0;
  const char* begin = name.data() + std::strlen(kPrefix);
  const char* end = name.data() + name.size() - std::strlen(kSuffix);
  int64_t number = 0;
  auto parsed = std::from_chars(begin, end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? number : 0;
}

absl::Status SystemError(const std::string& what) {
  return absl::UnavailableError("audit log: " + what + ": " +
                                std::strerror(errno));
}

}  // namespace

struct AuditLog::File {
  explicit File(int fd) : fd(fd) {}
  File(const File&) = delete;
  ~File() {
    if (fd >= 0) close(fd);
  }
  const int fd;
};

AuditLog::AuditLog(std::string folder, Metrics* metrics,
                   std::chrono::milliseconds batch)
    : folder_(std::move(folder)), metrics_(metrics), batch_(batch) {}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(
    const std::string& folder, Metrics* metrics,
    std::chrono::milliseconds batch) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return absl::UnavailableError("audit log: " + folder + ": " +
                                  error.message());
  }
  std::unique_ptr<AuditLog> log(new AuditLog(folder, metrics, batch));
  log->lock_file_ = std::make_shared<File>(
      open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (log->lock_file_->fd < 0 ||
      flock(log->lock_file_->fd, LOCK_EX | LOCK_NB) != 0) {
    return SystemError(folder + " cannot be locked");
  }
  absl::Status status = log->OpenLast();
  if (!status.ok()) return status;
  log->thread_ =
      std::make_unique<LoopThread>([raw = log.get()] { raw->SyncLoop(); });
  return log;
}

absl::Status AuditLog::OpenLast() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    number_ = std::max(number_, NumberOf(entry.path().filename()));
  }
  if (error) return absl::UnavailableError("audit log: " + error.message());
  std::lock_guard lock(mutex_);
  if (number_ == 0) return StartFile("the first file");
  std::string path = folder_ + "/" + FileName(number_);
  AuditCheck check = VerifyAuditFile(path);
  head_ = check.head;
  if (!check.fault.empty()) {
    metrics_->Count(Metric::kAuditChainBreaks);
    spdlog::error("the audit log {} is broken: {}; a new file begins", path,
                  check.fault);
    return StartFile("the file before is broken: " + check.fault);
  }
  auto file = std::make_shared<File>(
      open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  struct stat status;
  if (file->fd < 0 || fstat(file->fd, &status) != 0) return SystemError(path);
  size_ = status.st_size;
  file_ = std::move(file);
  spdlog::info("audit log {}: {} lines, head {}", path, head_.lines,
               head_.hash);
  return absl::OkStatus();
}

AuditLog::~AuditLog() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    sync_wanted_.notify_all();
  }
  thread_.reset();
  if (file_ != nullptr) {
    spdlog::info("audit log {}: {} lines, head {}", path(), head_.lines,
                 head_.hash);
  }
}

absl::Status AuditLog::StartFile(const std::string& why) {
  AuditStart start = {std::chrono::system_clock::now(), "", "", why};
  if (number_ > 0) {
    start.follows = FileName(number_);
    start.follows_hash = head_.hash;
  }
  AuditHead head;
  std::string line = AuditStartLine(start, &head);
  std::string path = folder_ + "/" + FileName(number_ + 1);
  auto file = std::make_shared<File>(open(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file->fd < 0) return SystemError(path);
  // Nobody relies on a file without a first line: it may go again.
  File folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (write(file->fd, line.data(), line.size()) !=
          static_cast<ssize_t>(line.size()) ||
      fdatasync(file->fd) != 0 || folder.fd < 0 || fsync(folder.fd) != 0) {
    absl::Status status = SystemError(path);
    unlink(path.c_str());
    return status;
  }
  ++number_;
  file_ = std::move(file);
  size_ = static_cast<int64_t>(line.size());
  head_ = head;
  return absl::OkStatus();
}

void AuditLog::GiveUpFile(const std::string& why) {
  metrics_->Count(Metric::kAuditChainBreaks);
  spdlog::error("the audit log {} is given up: {}", FileName(number_), why);
  file_.reset();
  given_up_why_ = why;
  failed_ = written_;  // nothing will sync what of it lies unsynced
}

absl::Status AuditLog::Write(const std::string& line) {
  ssize_t wrote = write(file_->fd, line.data(), line.size());
  if (wrote == static_cast<ssize_t>(line.size())) {
    size_ += wrote;
    return absl::OkStatus();
  }
  if (wrote >= 0) errno = ENOSPC;
  absl::Status status = SystemError(FileName(number_));
  // A piece of a line would break the chain: back to where it was whole.
  if (wrote > 0 && ftruncate(file_->fd, size_) != 0) {
    GiveUpFile("a piece of a line cannot be taken back");
  }
  return status;
}

absl::Status AuditLog::Append(const AuditRecord& record, Sync sync) {
  std::unique_lock lock(mutex_);
  absl::Status status;
  if (file_ == nullptr) {
    status = StartFile("the file before was given up: " + given_up_why_);
  }
  AuditHead head = head_;
  if (status.ok()) status = Write(AuditRecordLine(record, lost_, &head));
  if (!status.ok()) {
    if (lost_++ == 0) spdlog::error("{}", std::string(status.message()));
    metrics_->Count(Metric::kAuditRecords, {"lost"});
    return status;
  }
  head_ = head;
  lost_ = 0;
  ++written_;
  metrics_->Count(Metric::kAuditRecords, {"written"});
  sync_wanted_.notify_all();
  return sync == Sync::kBatched ? absl::OkStatus() : WaitSynced(lock);
}

absl::Status AuditLog::WaitSynced(std::unique_lock<std::mutex>& lock) {
  int64_t mine = written_;
  ++waiting_;
  bool ended = sync_ended_.wait_for(
      lock, kSyncLimit, [&] { return synced_ >= mine || failed_ >= mine; });
  --waiting_;
  if (!ended) {
    return absl::DeadlineExceededError("audit log: the disk does not answer");
  }
  if (failed_ >= mine) {
    return absl::UnavailableError("audit log: the disk cannot be synced");
  }
  return absl::OkStatus();
}

void AuditLog::SyncLoop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    sync_wanted_.wait(lock, [this] {
      return stopping_ || written_ > std::max(synced_, failed_);
    });
    if (written_ == std::max(synced_, failed_)) return;
    // Others may join, unless somebody waits.
    sync_wanted_.wait_for(lock, batch_,
                          [this] { return stopping_ || waiting_ > 0; });
    int64_t target = written_;
    std::shared_ptr<File> file = file_;
    lock.unlock();
    bool synced = file != nullptr && fdatasync(file->fd) == 0;
    lock.lock();
    if (synced) {
      synced_ = target;
    } else {
      // What a failed sync has thrown away a second one does not bring back.
      failed_ = std::max(failed_, target);
      if (file != nullptr && file == file_) GiveUpFile("it cannot be synced");
    }
    sync_ended_.notify_all();
  }
}

std::string AuditLog::path() const {
  std::lock_guard lock(mutex_);
  return folder_ + "/" + FileName(number_);
}

AuditHead AuditLog::head() const {
  std::lock_guard lock(mutex_);
  return head_;
}

}  // namespace fold
