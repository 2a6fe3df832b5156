#include "server/cache/single_flight.h"

namespace fold {

absl::Status SingleFlight::Do(const Key& key, Deadline deadline,
                              const std::function<absl::Status()>& work) {
  std::unique_lock lock(mutex_);
  for (;;) {
    auto found = flights_.find(key);
    if (found == flights_.end()) break;
    std::shared_ptr<Flight> flight = found->second;
    if (!changed_.wait_until(lock, deadline, [&] { return flight->over; })) {
      return absl::DeadlineExceededError("waited for another's fetch");
    }
    if (flight->status.ok() || absl::IsNotFound(flight->status)) {
      return flight->status;
    }
    if (std::chrono::steady_clock::now() >= deadline) return flight->status;
  }
  auto flight = std::make_shared<Flight>();
  flights_[key] = flight;
  lock.unlock();
  absl::Status status = work();
  lock.lock();
  flight->over = true;
  flight->status = status;
  flights_.erase(key);
  lock.unlock();
  changed_.notify_all();
  return status;
}

}  // namespace fold
