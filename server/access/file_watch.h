// Small files that are read again when they change.
#ifndef FOLD_SERVER_ACCESS_FILE_WATCH_H_
#define FOLD_SERVER_ACCESS_FILE_WATCH_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/worker_pool.h"

namespace fold {

inline constexpr std::chrono::milliseconds kFileWatchInterval{1000};

// A file as it was at one time.
struct WatchedFile {
  std::string bytes;
  std::string error;  // why it could not be read; "" if it was
  bool operator==(const WatchedFile&) const = default;
};

using WatchedFiles = std::vector<WatchedFile>;

// Each of at most 1 MiB; longer is an error. An empty path gives an empty file.
WatchedFiles ReadWatchedFiles(const std::vector<std::string>& paths);

// Compares the bytes at each interval: no time stamp can hide a change, and
// links that are swapped (as Kubernetes does) are seen.
class FileWatch {
 public:
  // `on_change` is called in a thread of the watch with what the files hold
  // now, whenever that is not what it was (`seen` at the beginning).
  FileWatch(std::vector<std::string> paths, WatchedFiles seen,
            std::chrono::milliseconds interval,
            std::function<void(const WatchedFiles&)> on_change);
  ~FileWatch();

 private:
  void Loop();

  const std::vector<std::string> paths_;
  const std::chrono::milliseconds interval_;
  const std::function<void(const WatchedFiles&)> on_change_;
  WatchedFiles seen_;
  std::mutex mutex_;
  std::condition_variable stop_changed_;
  bool stopping_ = false;
  std::unique_ptr<LoopThread> thread_;
};

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_FILE_WATCH_H_
