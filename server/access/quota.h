// What one principal may use at one time, so that no caller takes all of it.
#ifndef FOLD_SERVER_ACCESS_QUOTA_H_
#define FOLD_SERVER_ACCESS_QUOTA_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "server/failure.h"
#include "server/metrics.h"

namespace fold {

inline constexpr int64_t kUnlimited = -1;

// Of each principal.
struct QuotaLimits {
  int64_t requests_per_second =
      kUnlimited;                       // and so many at once, after a rest
  int64_t inflight_bytes = kUnlimited;  // of requests being answered
  int64_t compiles = kUnlimited;        // that wait or run
};

class Quota {
 public:
  using Clock = std::chrono::steady_clock;

  Quota(QuotaLimits limits, Metrics* metrics,
        std::function<Clock::time_point()> now = Clock::now);
  ~Quota();

  // Bytes or a compile, given back by the destructor. May outlive its quota.
  class Grant {
   public:
    Grant() = default;
    Grant(Grant&& other) noexcept = default;
    Grant& operator=(Grant&& other) noexcept {
      std::swap(give_back_, other.give_back_);
      return *this;
    }

   private:
    friend class Quota;
    std::shared_ptr<void> give_back_;
  };

  // Each may return QUOTA_EXCEEDED with the violated limit and the delay after
  // which another try should succeed: exact for requests; for the others the
  // time that this principal's grants have taken of late.
  // TakeBytes returns QUOTA_TOO_SMALL for more than the whole limit.
  std::optional<Failure> TakeRequest(const std::string& principal);
  std::optional<Failure> TakeBytes(const std::string& principal, int64_t bytes,
                                   Grant* grant);
  std::optional<Failure> TakeCompile(const std::string& principal,
                                     Grant* grant);

  // Principals about whom something is remembered.
  size_t principals() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_QUOTA_H_
