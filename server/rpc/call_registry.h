// The calls that are under way: bounded in number, watched for callers that
// stall, and waited for when the server stops.
#ifndef FOLD_SERVER_RPC_CALL_REGISTRY_H_
#define FOLD_SERVER_RPC_CALL_REGISTRY_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "server/worker_pool.h"

namespace fold {

class Call;

class CallRegistry {
 public:
  struct Limits {
    int64_t calls = 0;
    std::chrono::milliseconds stall{0};  // for a caller to send or to read
    std::chrono::milliseconds wait{0};   // for bytes of the budget
  };
  explicit CallRegistry(Limits limits);
  ~CallRegistry();

  // False if there are as many as may be. Add it once, Remove it always.
  bool Add(const std::shared_ptr<Call>& call);
  void Remove(Call* call);

  int64_t live() const;
  int64_t limit() const { return limits_.calls; }
  // Waits until no call is left, at most so long; whether that is so.
  bool WaitNone(std::chrono::milliseconds limit);

 private:
  void Watch();

  const Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::unordered_map<Call*, std::weak_ptr<Call>> calls_;
  std::unique_ptr<LoopThread> watch_;
};

}  // namespace fold

#endif  // FOLD_SERVER_RPC_CALL_REGISTRY_H_
