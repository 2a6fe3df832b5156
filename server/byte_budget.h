// A bound on bytes that are held at the same time.
#ifndef FOLD_SERVER_BYTE_BUDGET_H_
#define FOLD_SERVER_BYTE_BUDGET_H_

#include <atomic>
#include <cstdint>
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
      if (budget_ != nullptr) budget_->held_ -= bytes_;
    }

   private:
    friend class ByteBudget;
    Grant(ByteBudget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {}
    ByteBudget* budget_;
    int64_t bytes_;
  };

  // Nothing if that many are not free.
  std::optional<Grant> Take(int64_t bytes) {
    int64_t held = held_;
    do {
      if (bytes > limit_ - held) return std::nullopt;
    } while (!held_.compare_exchange_weak(held, held + bytes));
    return Grant(this, bytes);
  }
  int64_t held() const { return held_; }
  int64_t limit() const { return limit_; }

 private:
  const int64_t limit_;
  std::atomic<int64_t> held_{0};
};

}  // namespace fold

#endif  // FOLD_SERVER_BYTE_BUDGET_H_
