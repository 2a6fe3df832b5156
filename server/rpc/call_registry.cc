#include "server/rpc/call_registry.h"

#include <vector>

#include "server/rpc/call.h"

namespace fold {
namespace {

constexpr std::chrono::milliseconds kWatchInterval{250};

}  // namespace

CallRegistry::CallRegistry(Limits limits) : limits_(limits) {
  watch_ = std::make_unique<LoopThread>([this] { Watch(); });
}

CallRegistry::~CallRegistry() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  watch_.reset();
}

bool CallRegistry::Add(const std::shared_ptr<Call>& call) {
  std::lock_guard lock(mutex_);
  bool fits = static_cast<int64_t>(calls_.size()) < limits_.calls;
  calls_[call.get()] = call;
  return fits;
}

void CallRegistry::Remove(Call* call) {
  std::lock_guard lock(mutex_);
  calls_.erase(call);
  if (calls_.empty()) changed_.notify_all();
}

int64_t CallRegistry::live() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(calls_.size());
}

bool CallRegistry::WaitNone(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return calls_.empty(); });
}

void CallRegistry::Watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait_for(lock, kWatchInterval);
    std::vector<std::shared_ptr<Call>> live;
    for (const auto& [key, call] : calls_) {
      if (auto held = call.lock()) live.push_back(std::move(held));
    }
    lock.unlock();
    auto now = Call::Clock::now();
    for (const auto& call : live) {
      call->CheckStall(now, limits_.stall, limits_.wait);
    }
    live.clear();
    lock.lock();
  }
}

}  // namespace fold
