// Whether something that may be broken is worth a call. After some failures in
// a row it is left alone for a time that grows with each further failure; then
// one call at a time probes it.
#ifndef FOLD_SERVER_REMOTE_CIRCUIT_BREAKER_H_
#define FOLD_SERVER_REMOTE_CIRCUIT_BREAKER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

namespace fold {

class CircuitBreaker {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    int failures = 3;  // in a row, before it is left alone
    std::chrono::milliseconds first_pause{1000};
    std::chrono::milliseconds longest_pause{60'000};
    std::function<Clock::time_point()> now = Clock::now;
  };
  explicit CircuitBreaker(Options options) : options_(std::move(options)) {}

  // Whether to call now. After true, one of the next two must follow.
  bool Allow();
  void Succeeded();
  void Failed();

  bool closed() const;  // all calls are let through
  // Until the next probe; 0 if a call may be made now.
  std::chrono::milliseconds Remaining() const;

 private:
  const Options options_;
  mutable std::mutex mutex_;
  int failures_ = 0;  // in a row
  bool probing_ = false;
  std::chrono::milliseconds pause_{0};
  Clock::time_point open_until_{};
};

}  // namespace fold

#endif  // FOLD_SERVER_REMOTE_CIRCUIT_BREAKER_H_
