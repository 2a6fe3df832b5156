// Callers that want the same thing at the same time: one works, the others
// wait for it. If its work fails, one of those who wait, and has time left,
// works in its place.
#ifndef FOLD_SERVER_CACHE_SINGLE_FLIGHT_H_
#define FOLD_SERVER_CACHE_SINGLE_FLIGHT_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "absl/status/status.h"
#include "server/cache/store.h"

namespace fold {

class SingleFlight {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  // Runs `work`, which ends by itself, or takes the end of another caller's:
  // OK and NOT_FOUND go for all. DEADLINE_EXCEEDED: waited in vain.
  absl::Status Do(const Key& key, Deadline deadline,
                  const std::function<absl::Status()>& work);

 private:
  struct Flight {
    bool over = false;
    absl::Status status;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<Key, std::shared_ptr<Flight>, KeyHash> flights_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_SINGLE_FLIGHT_H_
