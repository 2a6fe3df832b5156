#include "server/access/file_watch.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace fold {
namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 20;

WatchedFile ReadOne(const std::string& path) {
  if (path.empty()) return {};
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kMaxFileBytes + 1, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) &&
      !file.eof()) {
    return {"", "cannot read '" + path + "': " + std::strerror(errno)};
  }
  bytes.resize(static_cast<size_t>(file.gcount()));
  if (bytes.size() > kMaxFileBytes) {
    return {"", "'" + path + "' is longer than a MiB"};
  }
  return {std::move(bytes), ""};
}

}  // namespace

WatchedFiles ReadWatchedFiles(const std::vector<std::string>& paths) {
  WatchedFiles files;
  for (const std::string& path : paths) files.push_back(ReadOne(path));
  return files;
}

FileWatch::FileWatch(std::vector<std::string> paths, WatchedFiles seen,
                     std::chrono::milliseconds interval,
                     std::function<void(const WatchedFiles&)> on_change)
    : paths_(std::move(paths)),
      interval_(interval),
      on_change_(std::move(on_change)),
      seen_(std::move(seen)),
      thread_(std::make_unique<LoopThread>([this] { Loop(); })) {}

FileWatch::~FileWatch() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    stop_changed_.notify_all();
  }
  thread_.reset();
}

void FileWatch::Loop() {
  std::unique_lock lock(mutex_);
  while (
      !stop_changed_.wait_for(lock, interval_, [this] { return stopping_; })) {
    lock.unlock();
    WatchedFiles now = ReadWatchedFiles(paths_);
    if (now != seen_) {
      seen_ = std::move(now);
      on_change_(seen_);
    }
    lock.lock();
  }
}

}  // namespace fold
