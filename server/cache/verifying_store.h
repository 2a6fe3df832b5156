// Decorator: what goes in and what comes out is checked. A blob is checked
// against its key. Other entries carry the hash of their bytes in front of
// them in the store behind. A wrong entry is quarantined, and DATA_LOSS.
#ifndef FOLD_SERVER_CACHE_VERIFYING_STORE_H_
#define FOLD_SERVER_CACHE_VERIFYING_STORE_H_

#include <string_view>

#include "server/cache/store.h"

namespace fold {

// Whether `stored`, the bytes of an entry other than a blob in the store
// behind, begin with the hash of the rest.
bool IsRightRecord(std::string_view stored);

class VerifyingStore : public Store {
 public:
  // Does not own `inner`.
  explicit VerifyingStore(Store* inner) : inner_(inner) {}
  absl::StatusOr<Bytes> Get(const Key& key) override;
  absl::Status Put(const Key& key, const Bytes& bytes) override;
  bool Touch(const Key& key) override { return inner_->Touch(key); }
  void Quarantine(const Key& key) override { inner_->Quarantine(key); }
  std::optional<Lease> Hold(const Key& key) override {
    return inner_->Hold(key);
  }

 private:
  Store* inner_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_VERIFYING_STORE_H_
