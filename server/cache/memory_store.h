// A bounded tier in memory: forgets the least recently used.
#ifndef FOLD_SERVER_CACHE_MEMORY_STORE_H_
#define FOLD_SERVER_CACHE_MEMORY_STORE_H_

#include <list>
#include <mutex>
#include <unordered_map>

#include "server/cache/protection.h"
#include "server/cache/store.h"

namespace fold {

class MemoryStore : public Store {
 public:
  // Holds at most `limit_bytes` of values. One that is larger than an eighth
  // of that is refused, so that it cannot push everything else out.
  explicit MemoryStore(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  absl::StatusOr<Bytes> Get(const Key& key) override;
  absl::Status Put(const Key& key, const Bytes& bytes) override;
  bool Touch(const Key& key) override;
  void Quarantine(const Key& key) override;
  std::optional<Lease> Hold(const Key& key) override;
  int64_t used_bytes() const;

 private:
  struct Entry {
    Key key;
    Bytes bytes;
  };
  void Remove(std::list<Entry>::iterator entry);
  bool MakeRoom(int64_t size);

  const int64_t limit_bytes_;
  const std::shared_ptr<Protection> protection_ = Protection::Make();
  mutable std::mutex mutex_;
  int64_t used_bytes_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<Key, std::list<Entry>::iterator, KeyHash> index_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_MEMORY_STORE_H_
