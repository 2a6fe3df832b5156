#include "server/cache/quarantine_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "server/cache/disk_layout.h"

namespace fold {

namespace fs = std::filesystem;

QuarantineFolder::QuarantineFolder(std::string folder, int64_t limit_items,
                                   int64_t limit_bytes)
    : folder_(std::move(folder)),
      limit_items_(limit_items),
      limit_bytes_(limit_bytes) {
  struct Found {
    timespec time;
    Item item;
  };
  std::vector<Found> found;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder_, error)) {
    struct stat status;
    if (lstat(file.path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
      continue;
    }
    found.push_back({status.st_ctim, {file.path().filename(), status.st_size}});
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    if (a.time.tv_sec != b.time.tv_sec) return a.time.tv_sec < b.time.tv_sec;
    return a.time.tv_nsec < b.time.tv_nsec;
  });
  std::lock_guard lock(mutex_);
  for (Found& one : found) {
    bytes_ += one.item.size;
    items_.push_back(std::move(one.item));
  }
  while (!items_.empty() &&
         (bytes_ > limit_bytes_ ||
          static_cast<int64_t>(items_.size()) > limit_items_)) {
    RemoveOldestLocked();
  }
}

void QuarantineFolder::RemoveOldestLocked() {
  unlink((folder_ + "/" + items_.front().name).c_str());
  bytes_ -= items_.front().size;
  items_.pop_front();
}

void QuarantineFolder::Take(const std::string& path, const Key& key,
                            int64_t size) {
  std::lock_guard lock(mutex_);
  std::string name = FlatName(key);
  for (auto item = items_.begin(); item != items_.end(); ++item) {
    if (item->name != name) continue;
    bytes_ -= item->size;
    items_.erase(item);
    break;
  }
  struct stat status;
  if (lstat(path.c_str(), &status) == 0) size = status.st_size;
  if (size > limit_bytes_ || limit_items_ < 1 ||
      rename(path.c_str(), (folder_ + "/" + name).c_str()) != 0) {
    unlink(path.c_str());
    unlink((folder_ + "/" + name).c_str());
    return;
  }
  items_.push_back({name, size});
  bytes_ += size;
  while (bytes_ > limit_bytes_ ||
         static_cast<int64_t>(items_.size()) > limit_items_) {
    RemoveOldestLocked();
  }
}

int64_t QuarantineFolder::Shrink(int64_t bytes) {
  std::lock_guard lock(mutex_);
  int64_t before = bytes_;
  while (!items_.empty() && before - bytes_ < bytes) RemoveOldestLocked();
  return before - bytes_;
}

int64_t QuarantineFolder::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

std::vector<QuarantineFolder::Item> QuarantineFolder::Items() const {
  std::lock_guard lock(mutex_);
  return {items_.begin(), items_.end()};
}

}  // namespace fold
