// The pins of a DiskStore: a mark a pin, whose text is the note's line and
// then a line a key.
#include <sstream>

#include "server/cache/disk_layout.h"
#include "server/cache/disk_store.h"

namespace fold {
namespace {

constexpr size_t kMaxNoteBytes = 1024;

std::string PinText(const std::vector<Key>& keys, const std::string& note) {
  std::string text = note.substr(0, kMaxNoteBytes);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  text += '\n';
  for (const Key& key : keys) text += FlatName(key) + "\n";
  return text;
}

}  // namespace

void DiskStore::LoadPins() {
  std::lock_guard lock(pin_mutex_);
  for (const auto& [name, text] : pins_->All()) {
    PinRecord record;
    record.name = *ParseFlatName(name);
    std::istringstream lines(text);
    std::getline(lines, record.note);
    for (std::string line; std::getline(lines, line);) {
      std::optional<Key> key = ParseFlatName(line);
      if (key) record.keys.push_back(*key);
    }
    for (const Key& key : record.keys) protection_->Pin(key);
    pin_records_[record.name] = std::move(record);
  }
}

absl::Status DiskStore::Pin(const Key& name, const std::vector<Key>& keys,
                            const std::string& note) {
  std::lock_guard pin_lock(pin_mutex_);
  int64_t bytes = 0;
  {
    // Pinned under the lock, so that none is evicted after it was seen.
    std::lock_guard lock(mutex_);
    for (const Key& key : keys) {
      if (!index_.contains(key)) {
        return absl::NotFoundError(FlatName(key) + " is not in the cache");
      }
    }
    for (const Key& key : keys) protection_->Pin(key);
    for (const Entry& entry : entries_) {
      if (protection_->IsPinned(entry.key)) bytes += entry.size;
    }
  }
  absl::Status status;
  if (bytes > options_.limit_bytes / 4 * 3) {
    status = absl::ResourceExhaustedError(
        "pins would hold " + std::to_string(bytes) +
        " bytes, more than three quarters of the cache");
  } else {
    status = pins_->Put(FlatName(name), PinText(keys, note));
  }
  if (!status.ok()) {
    for (const Key& key : keys) protection_->Unpin(key);
    return status;
  }
  auto found = pin_records_.find(name);
  if (found != pin_records_.end()) {
    for (const Key& key : found->second.keys) protection_->Unpin(key);
  }
  pin_records_[name] = {name, note, keys};
  return absl::OkStatus();
}

absl::Status DiskStore::Unpin(const Key& name) {
  std::lock_guard pin_lock(pin_mutex_);
  absl::Status status = pins_->Erase(FlatName(name));
  if (!status.ok()) return status;
  for (const Key& key : pin_records_[name].keys) protection_->Unpin(key);
  pin_records_.erase(name);
  return absl::OkStatus();
}

std::vector<DiskStore::PinRecord> DiskStore::Pins() const {
  std::lock_guard pin_lock(pin_mutex_);
  std::vector<PinRecord> out;
  for (const auto& [name, record] : pin_records_) out.push_back(record);
  return out;
}

int64_t DiskStore::pinned_bytes() const {
  std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const Entry& entry : entries_) {
    if (protection_->IsPinned(entry.key)) bytes += entry.size;
  }
  return bytes;
}

}  // namespace fold
