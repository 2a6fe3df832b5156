// Which entries of a store are in use: held by a Lease, leased for a time, or
// pinned. Stores ask before they forget one.
#ifndef FOLD_SERVER_CACHE_PROTECTION_H_
#define FOLD_SERVER_CACHE_PROTECTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "server/cache/lease.h"
#include "server/cache/store.h"

namespace fold {

// Seconds of a clock that only goes forward.
using SecondsClock = std::function<int64_t()>;
int64_t SteadySeconds();

class Protection : public std::enable_shared_from_this<Protection> {
 public:
  static std::shared_ptr<Protection> Make(SecondsClock clock = SteadySeconds);

  Lease Hold(const Key& key);
  // Until `seconds` from now; never shortens.
  void LeaseFor(const Key& key, int64_t seconds);
  void EndTimeLease(const Key& key);
  // Pins add up; each Unpin takes one back.
  void Pin(const Key& key);
  void Unpin(const Key& key);

  // Whether it may not be evicted.
  bool Protects(const Key& key);
  bool IsHeld(const Key& key) const;  // by a Lease
  bool IsPinned(const Key& key) const;
  int64_t held() const;  // leases that live

 private:
  struct Uses {
    int64_t holds = 0;
    int64_t pins = 0;
    int64_t leased_until = INT64_MIN;
  };
  explicit Protection(SecondsClock clock) : clock_(std::move(clock)) {}
  void Release(const Key& key);
  bool InUse(const Uses& uses) const;
  void SweepLocked();

  const SecondsClock clock_;
  mutable std::mutex mutex_;
  int64_t held_ = 0;
  size_t sweep_at_ = 1024;  // entries of the table at which to sweep it
  std::unordered_map<Key, Uses, KeyHash> uses_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_PROTECTION_H_
