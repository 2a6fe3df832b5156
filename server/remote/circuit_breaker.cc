#include "server/remote/circuit_breaker.h"

#include <algorithm>

namespace fold {

bool CircuitBreaker::Allow() {
  std::lock_guard lock(mutex_);
  if (failures_ < options_.failures) return true;
  if (probing_ || options_.now() < open_until_) return false;
  probing_ = true;
  return true;
}

void CircuitBreaker::Succeeded() {
  std::lock_guard lock(mutex_);
  failures_ = 0;
  probing_ = false;
  pause_ = std::chrono::milliseconds(0);
}

void CircuitBreaker::Failed() {
  std::lock_guard lock(mutex_);
  bool was_open = failures_ >= options_.failures;
  if (was_open && !probing_) return;  // began before it was opened
  failures_ = std::min(failures_ + 1, options_.failures);
  probing_ = false;
  if (failures_ < options_.failures) return;
  pause_ = pause_.count() == 0 ? options_.first_pause
                               : std::min(2 * pause_, options_.longest_pause);
  open_until_ = options_.now() + pause_;
}

bool CircuitBreaker::closed() const {
  std::lock_guard lock(mutex_);
  return failures_ < options_.failures;
}

std::chrono::milliseconds CircuitBreaker::Remaining() const {
  std::lock_guard lock(mutex_);
  if (failures_ < options_.failures) return std::chrono::milliseconds(0);
  auto left = std::chrono::ceil<std::chrono::milliseconds>(open_until_ -
                                                           options_.now());
  return std::max(left, std::chrono::milliseconds(0));
}

}  // namespace fold
