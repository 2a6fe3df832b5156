#include "server/cache/memory_store.h"

namespace fold {

absl::StatusOr<Bytes> MemoryStore::Get(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  if (found == index_.end()) return absl::NotFoundError("not in memory");
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->bytes;
}

absl::Status MemoryStore::Put(const Key& key, const Bytes& bytes) {
  auto size = static_cast<int64_t>(bytes->size());
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  if (found != index_.end()) Remove(found->second);
  if (size > limit_bytes_ / 8) {
    return absl::ResourceExhaustedError("too large for the memory tier");
  }
  while (used_bytes_ + size > limit_bytes_) Remove(std::prev(entries_.end()));
  entries_.push_front({key, bytes});
  index_[key] = entries_.begin();
  used_bytes_ += size;
  return absl::OkStatus();
}

bool MemoryStore::Touch(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  if (found == index_.end()) return false;
  entries_.splice(entries_.begin(), entries_, found->second);
  return true;
}

void MemoryStore::Quarantine(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  if (found != index_.end()) Remove(found->second);
}

int64_t MemoryStore::used_bytes() const {
  std::lock_guard lock(mutex_);
  return used_bytes_;
}

void MemoryStore::Remove(std::list<Entry>::iterator entry) {
  used_bytes_ -= static_cast<int64_t>(entry->bytes->size());
  index_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace fold
