#include "server/byte_budget.h"

#include <algorithm>
#include <vector>

namespace fold {

std::optional<ByteBudget::Grant> ByteBudget::Take(int64_t bytes) {
  std::lock_guard lock(mutex_);
  if (!waiters_.empty() || bytes > limit_ - held_) return std::nullopt;
  held_ += bytes;
  return Grant(this, bytes);
}

int64_t ByteBudget::Wait(int64_t bytes, Ready ready) {
  {
    std::lock_guard lock(mutex_);
    if (!waiters_.empty() || !Fits(bytes)) {
      waiters_.push_back({next_ticket_, bytes, std::move(ready)});
      return next_ticket_++;
    }
    held_ += bytes;
  }
  ready(Grant(this, bytes));
  return 0;
}

bool ByteBudget::GiveUp(int64_t ticket) {
  std::unique_lock lock(mutex_);
  auto found =
      std::find_if(waiters_.begin(), waiters_.end(),
                   [&](const Waiter& one) { return one.ticket == ticket; });
  if (found == waiters_.end()) return false;
  Ready dropped = std::move(found->ready);  // goes without the lock
  waiters_.erase(found);
  Serve(lock);
  return true;
}

void ByteBudget::Release(int64_t bytes) {
  std::unique_lock lock(mutex_);
  held_ -= bytes;
  Serve(lock);
}

void ByteBudget::Serve(std::unique_lock<std::mutex>& lock) {
  std::vector<Waiter> ready;
  while (!waiters_.empty() && Fits(waiters_.front().bytes)) {
    held_ += waiters_.front().bytes;
    ready.push_back(std::move(waiters_.front()));
    waiters_.pop_front();
  }
  lock.unlock();
  for (Waiter& one : ready) one.ready(Grant(this, one.bytes));
}

int64_t ByteBudget::held() const {
  std::lock_guard lock(mutex_);
  return held_;
}

int64_t ByteBudget::waiting() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(waiters_.size());
}

}  // namespace fold
