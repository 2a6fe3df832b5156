// Decorator: what is on the recall list is as if it were not there, and is not
// taken again.
#ifndef FOLD_SERVER_CACHE_RECALLING_STORE_H_
#define FOLD_SERVER_CACHE_RECALLING_STORE_H_

#include "server/cache/recall_list.h"
#include "server/cache/store.h"

namespace fold {

class RecallingStore : public Store {
 public:
  // Owns neither.
  RecallingStore(Store* inner, const RecallList* recalls)
      : inner_(inner), recalls_(recalls) {}
  absl::StatusOr<Bytes> Get(const Key& key) override {
    if (recalls_->Find(key)) return absl::NotFoundError("recalled");
    return inner_->Get(key);
  }
  // FAILED_PRECONDITION: it is recalled.
  absl::Status Put(const Key& key, const Bytes& bytes) override {
    if (recalls_->Find(key)) return absl::FailedPreconditionError("recalled");
    return inner_->Put(key, bytes);
  }
  bool Touch(const Key& key) override {
    return !recalls_->Find(key) && inner_->Touch(key);
  }
  void Quarantine(const Key& key) override { inner_->Quarantine(key); }
  std::optional<Lease> Hold(const Key& key) override {
    if (recalls_->Find(key)) return std::nullopt;
    return inner_->Hold(key);
  }

 private:
  Store* inner_;
  const RecallList* recalls_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_RECALLING_STORE_H_
