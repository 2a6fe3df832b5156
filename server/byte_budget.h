// A bound on bytes that are held at the same time, with a queue for those who
// can wait.
#ifndef FOLD_SERVER_BYTE_BUDGET_H_
#define FOLD_SERVER_BYTE_BUDGET_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace fold {

class ByteBudget {
 public:
  explicit ByteBudget(int64_t limit) : limit_(limit) {}

  // Bytes that were granted, given back by the destructor.
  class Grant {
   public:
    Grant(Grant&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)),
          bytes_(other.bytes_) {}
    Grant& operator=(Grant&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Grant() {
      if (budget_ != nullptr) budget_->Release(bytes_);
    }
    // Gives back all but `bytes`.
    void ShrinkTo(int64_t bytes) {
      if (bytes >= bytes_) return;
      int64_t back = bytes_ - bytes;
      bytes_ = bytes;
      budget_->Release(back);
    }
    int64_t bytes() const { return bytes_; }

   private:
    friend class ByteBudget;
    Grant(ByteBudget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {}
    ByteBudget* budget_;
    int64_t bytes_;
  };
  using Ready = std::function<void(Grant)>;

  // Nothing if that many are not free, or others wait.
  std::optional<Grant> Take(int64_t bytes);
  // Calls `ready` once: now if the bytes are free, otherwise from the thread
  // that frees them, after those who waited before. The ticket for GiveUp, 0
  // if `ready` was called. More than the limit is granted when all is free.
  int64_t Wait(int64_t bytes, Ready ready);
  // Whether that one still waited; then its `ready` is never called.
  bool GiveUp(int64_t ticket);

  int64_t held() const;
  int64_t waiting() const;
  int64_t limit() const { return limit_; }

 private:
  struct Waiter {
    int64_t ticket;
    int64_t bytes;
    Ready ready;
  };
  // Called with the lock held.
  bool Fits(int64_t bytes) const {
    return held_ + bytes <= limit_ || held_ == 0;
  }
  void Release(int64_t bytes);
  // Grants what fits now to those who wait; gives the lock back first.
  void Serve(std::unique_lock<std::mutex>& lock);

  const int64_t limit_;
  mutable std::mutex mutex_;
  int64_t held_ = 0;
  int64_t next_ticket_ = 1;
  std::deque<Waiter> waiters_;
};

}  // namespace fold

#endif  // FOLD_SERVER_BYTE_BUDGET_H_
