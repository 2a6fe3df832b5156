#include "server/cache/scrubber.h"

#include <algorithm>
#include <chrono>

#include "server/cache/verifying_store.h"

namespace fold {
namespace {

// Entries other than blobs are small; one that is not is no entry of ours.
constexpr int64_t kMaxRecordBytes = 64 << 20;
constexpr int64_t kLongestPauseMs = 60'000;

}  // namespace

absl::Status CheckEntry(DiskStore* disk, const Key& key,
                        const std::function<bool(int64_t)>& pace) {
  auto reader = disk->Peek(key);
  if (!reader.ok()) return reader.status();
  bool blob = key.space == Space::kBlob;
  if (!blob && (*reader)->size() > kMaxRecordBytes) {
    disk->Quarantine(key);
    return absl::DataLossError("an entry is larger than any may be");
  }
  std::string record;
  for (;;) {
    absl::StatusOr<std::string> piece = (*reader)->Read(kMaxPieceBytes);
    if (!piece.ok()) {
      if (absl::IsDataLoss(piece.status())) disk->Quarantine(key);
      return piece.status();
    }
    if (piece->empty()) break;
    if (!blob) record += *piece;
    if (!pace(static_cast<int64_t>(piece->size()))) {
      return absl::CancelledError("stopped");
    }
  }
  if (blob || IsRightRecord(record)) return absl::OkStatus();
  disk->Quarantine(key);
  return absl::DataLossError("an entry's bytes are not what was written");
}

Scrubber::Scrubber(DiskStore* disk, ScrubOptions options,
                   std::function<void(bool)> on_checked)
    : disk_(disk), options_(options), on_checked_(std::move(on_checked)) {
  if (options_.bytes_per_second > 0) {
    thread_ = std::make_unique<LoopThread>([this] { Loop(); });
  }
}

Scrubber::~Scrubber() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.reset();
}

int64_t Scrubber::passes() const {
  std::lock_guard lock(mutex_);
  return passes_;
}

bool Scrubber::Pause(int64_t milliseconds) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, std::chrono::milliseconds(milliseconds),
                            [this] { return stopping_; });
}

void Scrubber::Loop() {
  using Clock = std::chrono::steady_clock;
  auto pace = [this](int64_t bytes) {
    int64_t pause = bytes * 1000 / options_.bytes_per_second;
    return Pause(std::min(pause, kLongestPauseMs));
  };
  for (;;) {
    auto next = Clock::now() + std::chrono::seconds(options_.pass_seconds);
    for (const DiskStore::EntryRecord& entry : disk_->Entries()) {
      absl::Status status = CheckEntry(disk_, entry.key, pace);
      if (absl::IsCancelled(status) || !Pause(0)) return;
      if (status.ok()) on_checked_(true);
      if (absl::IsDataLoss(status)) on_checked_(false);
    }
    {
      std::lock_guard lock(mutex_);
      ++passes_;
    }
    while (Clock::now() < next) {
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          next - Clock::now());
      if (!Pause(std::min<int64_t>(left.count() + 1, kLongestPauseMs))) return;
    }
  }
}

}  // namespace fold
