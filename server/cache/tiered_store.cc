#include "server/cache/tiered_store.h"

namespace fold {

absl::StatusOr<Bytes> TieredStore::Get(const Key& key) {
  absl::StatusOr<Bytes> got = front_->Get(key);
  if (got.ok()) {
    back_->Touch(key);
    return got;
  }
  got = back_->Get(key);
  if (got.ok()) (void)front_->Put(key, *got);  // too large: stays behind
  return got;
}

absl::Status TieredStore::Put(const Key& key, const Bytes& bytes) {
  absl::Status status = back_->Put(key, bytes);
  if (status.ok()) (void)front_->Put(key, bytes);
  return status;
}

bool TieredStore::Touch(const Key& key) {
  front_->Touch(key);
  return back_->Touch(key);
}

void TieredStore::Quarantine(const Key& key) {
  front_->Quarantine(key);
  back_->Quarantine(key);
}

std::optional<Lease> TieredStore::Hold(const Key& key) {
  front_->Touch(key);
  return back_->Hold(key);
}

}  // namespace fold
