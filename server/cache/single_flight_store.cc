#include "server/cache/single_flight_store.h"

namespace fold {

absl::StatusOr<Bytes> SingleFlightStore::Get(const Key& key) {
  std::unique_lock lock(mutex_);
  std::shared_ptr<Flight>& slot = flights_[key];
  if (slot != nullptr) {
    std::shared_ptr<Flight> flight = slot;
    flight->done.wait(lock, [&] { return flight->result.has_value(); });
    return *flight->result;
  }
  std::shared_ptr<Flight> flight = slot = std::make_shared<Flight>();
  lock.unlock();
  absl::StatusOr<Bytes> result = inner_->Get(key);
  lock.lock();
  flight->result = result;
  flights_.erase(key);
  flight->done.notify_all();
  return result;
}

}  // namespace fold
