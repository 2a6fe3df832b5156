// Decorator: callers that want the same entry at the same time share one Get
// of the store behind. (One compile for equal requests is the scheduler's.)
#ifndef FOLD_SERVER_CACHE_SINGLE_FLIGHT_STORE_H_
#define FOLD_SERVER_CACHE_SINGLE_FLIGHT_STORE_H_

#include <condition_variable>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "server/cache/store.h"

namespace fold {

class SingleFlightStore : public Store {
 public:
  // Does not own `inner`.
  explicit SingleFlightStore(Store* inner) : inner_(inner) {}
  absl::StatusOr<Bytes> Get(const Key& key) override;
  absl::Status Put(const Key& key, const Bytes& bytes) override {
    return inner_->Put(key, bytes);
  }
  bool Touch(const Key& key) override { return inner_->Touch(key); }
  void Quarantine(const Key& key) override { inner_->Quarantine(key); }
  std::optional<Lease> Hold(const Key& key) override {
    return inner_->Hold(key);
  }

 private:
  struct Flight {
    std::condition_variable done;
    std::optional<absl::StatusOr<Bytes>> result;
  };
  Store* inner_;
  std::mutex mutex_;
  std::unordered_map<Key, std::shared_ptr<Flight>, KeyHash> flights_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_SINGLE_FLIGHT_STORE_H_
