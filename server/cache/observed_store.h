// Decorator: tells an observer how each Get of a tier ended.
#ifndef FOLD_SERVER_CACHE_OBSERVED_STORE_H_
#define FOLD_SERVER_CACHE_OBSERVED_STORE_H_

#include <functional>
#include <string>

#include "server/cache/store.h"

namespace fold {

// `result` is "hit", "miss", "corrupt" or "error".
using CacheObserver =
    std::function<void(const std::string& tier, const std::string& result)>;

class ObservedStore : public Store {
 public:
  // Does not own `inner`.
  ObservedStore(std::string tier, Store* inner, CacheObserver observer)
      : tier_(std::move(tier)), inner_(inner), observer_(std::move(observer)) {}
  absl::StatusOr<Bytes> Get(const Key& key) override {
    absl::StatusOr<Bytes> got = inner_->Get(key);
    observer_(tier_, got.ok()                         ? "hit"
                     : absl::IsNotFound(got.status()) ? "miss"
                     : absl::IsDataLoss(got.status()) ? "corrupt"
                                                      : "error");
    return got;
  }
  absl::Status Put(const Key& key, const Bytes& bytes) override {
    return inner_->Put(key, bytes);
  }
  bool Touch(const Key& key) override { return inner_->Touch(key); }
  void Quarantine(const Key& key) override { inner_->Quarantine(key); }
  std::optional<Lease> Hold(const Key& key) override {
    return inner_->Hold(key);
  }

 private:
  std::string tier_;
  Store* inner_;
  CacheObserver observer_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_OBSERVED_STORE_H_
