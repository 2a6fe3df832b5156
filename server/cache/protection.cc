#include "server/cache/protection.h"

#include <algorithm>
#include <chrono>

namespace fold {

int64_t SteadySeconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::shared_ptr<Protection> Protection::Make(SecondsClock clock) {
  return std::shared_ptr<Protection>(new Protection(std::move(clock)));
}

bool Protection::InUse(const Uses& uses) const {
  return uses.holds > 0 || uses.pins > 0 || uses.leased_until > clock_();
}

// Time leases end by themselves; their rows must not pile up.
void Protection::SweepLocked() {
  if (uses_.size() < sweep_at_) return;
  std::erase_if(uses_, [this](const auto& row) { return !InUse(row.second); });
  sweep_at_ = std::max<size_t>(1024, 2 * uses_.size());
}

Lease Protection::Hold(const Key& key) {
  std::lock_guard lock(mutex_);
  SweepLocked();
  ++uses_[key].holds;
  ++held_;
  return Lease([self = shared_from_this(), key] { self->Release(key); });
}

void Protection::Release(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = uses_.find(key);
  if (found == uses_.end()) return;
  --found->second.holds;
  --held_;
  if (!InUse(found->second)) uses_.erase(found);
}

void Protection::LeaseFor(const Key& key, int64_t seconds) {
  std::lock_guard lock(mutex_);
  SweepLocked();
  Uses& uses = uses_[key];
  uses.leased_until = std::max(uses.leased_until, clock_() + seconds);
}

void Protection::EndTimeLease(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = uses_.find(key);
  if (found == uses_.end()) return;
  found->second.leased_until = INT64_MIN;
  if (!InUse(found->second)) uses_.erase(found);
}

void Protection::Pin(const Key& key) {
  std::lock_guard lock(mutex_);
  ++uses_[key].pins;
}

void Protection::Unpin(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = uses_.find(key);
  if (found == uses_.end() || found->second.pins == 0) return;
  --found->second.pins;
  if (!InUse(found->second)) uses_.erase(found);
}

bool Protection::Protects(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = uses_.find(key);
  if (found == uses_.end()) return false;
  if (InUse(found->second)) return true;
  uses_.erase(found);
  return false;
}

bool Protection::IsHeld(const Key& key) const {
  std::lock_guard lock(mutex_);
  auto found = uses_.find(key);
  return found != uses_.end() && found->second.holds > 0;
}

bool Protection::IsPinned(const Key& key) const {
  std::lock_guard lock(mutex_);
  auto found = uses_.find(key);
  return found != uses_.end() && found->second.pins > 0;
}

int64_t Protection::held() const {
  std::lock_guard lock(mutex_);
  return held_;
}

}  // namespace fold
