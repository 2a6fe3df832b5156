// A fast store in front of a lasting one. What comes from the back is kept in
// front; what is in front is trusted.
#ifndef FOLD_SERVER_CACHE_TIERED_STORE_H_
#define FOLD_SERVER_CACHE_TIERED_STORE_H_

#include "server/cache/store.h"

namespace fold {

class TieredStore : public Store {
 public:
  // Does not own its tiers.
  TieredStore(Store* front, Store* back) : front_(front), back_(back) {}
  // Touches the back, too, so that both agree on what is used.
  absl::StatusOr<Bytes> Get(const Key& key) override;
  // Both or none: the front holds nothing that the back refused.
  absl::Status Put(const Key& key, const Bytes& bytes) override;
  // Whether the back, which is the truth, has it.
  bool Touch(const Key& key) override;
  void Quarantine(const Key& key) override;
  // In the back: what is only in front is not there.
  std::optional<Lease> Hold(const Key& key) override;

 private:
  Store* front_;
  Store* back_;
};

// The front alone, for a caller that must not wait for the back.
class FrontStore : public Store {
 public:
  FrontStore(Store* front, Store* back) : front_(front), back_(back) {}
  absl::StatusOr<Bytes> Get(const Key& key) override {
    absl::StatusOr<Bytes> got = front_->Get(key);
    if (got.ok()) back_->Touch(key);
    return got;
  }
  absl::Status Put(const Key& key, const Bytes& bytes) override {
    return front_->Put(key, bytes);
  }
  bool Touch(const Key& key) override { return front_->Touch(key); }
  void Quarantine(const Key& key) override { front_->Quarantine(key); }
  std::optional<Lease> Hold(const Key& key) override {
    return back_->Hold(key);
  }

 private:
  Store* front_;
  Store* back_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_TIERED_STORE_H_
