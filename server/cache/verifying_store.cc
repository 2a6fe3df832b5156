#include "server/cache/verifying_store.h"

#include <string_view>

#include "compiler/api/sha256.h"

namespace fold {
namespace {

constexpr size_t kHashBytes = 64;

}  // namespace

bool IsRightRecord(std::string_view stored) {
  return stored.size() >= kHashBytes &&
         Sha256Hex(stored.substr(kHashBytes)) == stored.substr(0, kHashBytes);
}

absl::StatusOr<Bytes> VerifyingStore::Get(const Key& key) {
  absl::StatusOr<Bytes> got = inner_->Get(key);
  if (!got.ok()) {
    if (absl::IsDataLoss(got.status())) inner_->Quarantine(key);
    return got;
  }
  std::string_view bytes = **got;
  std::string_view want = key.hash;
  if (key.space != Space::kBlob) {
    want = bytes.substr(0, kHashBytes);
    bytes = bytes.substr(std::min(kHashBytes, bytes.size()));
  }
  if (want.size() != kHashBytes || Sha256Hex(bytes) != want) {
    inner_->Quarantine(key);
    return absl::DataLossError("an entry's bytes are not what was written");
  }
  if (key.space == Space::kBlob) return got;
  return std::make_shared<const std::string>(bytes);
}

absl::Status VerifyingStore::Put(const Key& key, const Bytes& bytes) {
  std::string hash = Sha256Hex(*bytes);
  if (key.space == Space::kBlob) {
    if (hash != key.hash) {
      return absl::InvalidArgumentError("the bytes are not those of the key");
    }
    return inner_->Put(key, bytes);
  }
  return inner_->Put(key, std::make_shared<const std::string>(hash + *bytes));
}

}  // namespace fold
