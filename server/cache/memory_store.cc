#include "server/cache/memory_store.h"

#include <vector>

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
  if (!MakeRoom(size)) {
    return absl::ResourceExhaustedError("the memory tier is full of leases");
  }
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

std::optional<Lease> MemoryStore::Hold(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  if (found == index_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return protection_->Hold(key);
}

// All or nothing: evicts no entry if that would not be enough.
bool MemoryStore::MakeRoom(int64_t size) {
  int64_t wanted = used_bytes_ + size - limit_bytes_;
  std::vector<std::list<Entry>::iterator> victims;
  for (auto entry = entries_.end(); wanted > 0 && entry != entries_.begin();) {
    --entry;
    if (protection_->Protects(entry->key)) continue;
    wanted -= static_cast<int64_t>(entry->bytes->size());
    victims.push_back(entry);
  }
  if (wanted > 0) return false;
  for (auto victim : victims) Remove(victim);
  return true;
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
