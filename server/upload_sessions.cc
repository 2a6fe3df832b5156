#include "server/upload_sessions.h"

#include <algorithm>
#include <vector>

namespace fold {

int64_t UploadSessions::Session::Take(const void* owner) {
  std::lock_guard lock(mutex_);
  owner_ = owner;
  used_ = Clock::now();
  return committed_;
}

absl::Status UploadSessions::Session::Append(const void* owner, int64_t offset,
                                             std::string_view bytes) {
  std::lock_guard lock(mutex_);
  if (owner_ != owner || writer_ == nullptr) {
    return absl::AbortedError("another call goes on with this upload");
  }
  if (offset != committed_) {
    return absl::OutOfRangeError("write_offset is " + std::to_string(offset) +
                                 ", and " + std::to_string(committed_) +
                                 " bytes are here");
  }
  absl::Status status = writer_->Append(bytes);
  used_ = Clock::now();
  if (status.ok()) {
    committed_ += static_cast<int64_t>(bytes.size());
  } else {
    writer_.reset();
  }
  return status;
}

absl::Status UploadSessions::Session::Finish(const void* owner) {
  std::lock_guard lock(mutex_);
  if (owner_ != owner || writer_ == nullptr) {
    return absl::AbortedError("another call goes on with this upload");
  }
  std::unique_ptr<BlobWriter> writer = std::move(writer_);
  return writer->Finish();
}

int64_t UploadSessions::Session::committed() const {
  std::lock_guard lock(mutex_);
  return committed_;
}

UploadSessions::UploadSessions(int64_t limit, std::chrono::milliseconds idle)
    : limit_(limit), idle_(idle) {
  sweeper_ = std::make_unique<LoopThread>([this] { Sweep(); });
}

UploadSessions::~UploadSessions() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  sweeper_.reset();
}

absl::StatusOr<std::shared_ptr<UploadSessions::Session>> UploadSessions::Open(
    const std::string& name, const Make& make) {
  if (auto found = Find(name)) return found;
  absl::StatusOr<std::unique_ptr<BlobWriter>> writer = make();
  if (!writer.ok()) return writer.status();
  auto session = std::make_shared<Session>();
  session->writer_ = std::move(*writer);
  std::lock_guard lock(mutex_);
  auto [at, fresh] = sessions_.try_emplace(name, session);
  if (fresh && static_cast<int64_t>(sessions_.size()) > limit_) {
    sessions_.erase(at);
    return absl::ResourceExhaustedError("too many uploads are under way");
  }
  return at->second;
}

std::shared_ptr<UploadSessions::Session> UploadSessions::Find(
    const std::string& name) const {
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(name);
  return found != sessions_.end() ? found->second : nullptr;
}

void UploadSessions::Forget(const std::string& name) {
  std::shared_ptr<Session> gone;  // its file goes without the lock
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(name);
  if (found == sessions_.end()) return;
  gone = std::move(found->second);
  sessions_.erase(found);
}

int64_t UploadSessions::live() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(sessions_.size());
}

void UploadSessions::Sweep() {
  auto interval = std::clamp<std::chrono::milliseconds>(
      idle_ / 4, std::chrono::milliseconds(20), std::chrono::seconds(10));
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait_for(lock, interval);
    std::vector<std::shared_ptr<Session>> gone;
    auto now = Clock::now();
    for (auto at = sessions_.begin(); at != sessions_.end();) {
      std::unique_lock busy(at->second->mutex_, std::try_to_lock);
      bool over = busy.owns_lock() && now - at->second->used_ >= idle_;
      if (over) {
        // Its caller may still hold it, and must not write any more.
        at->second->owner_ = nullptr;
        gone.push_back(at->second);
      }
      at = over ? sessions_.erase(at) : std::next(at);
    }
    lock.unlock();
    gone.clear();
    lock.lock();
  }
}

}  // namespace fold
