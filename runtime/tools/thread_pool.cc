#include "runtime/tools/thread_pool.h"

namespace fold::tools {
namespace {

// Looks at the round counter this often before it sleeps: ops follow each other
// within microseconds, waking a thread takes tens of them.
constexpr int kSpins = 20000;

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) {
    threads_.emplace_back([this] { Loop(); });
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    ++round_;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Work() {
  for (uint32_t i = next_++; i < tasks_; i = next_++) task_(context_, i);
}

void ThreadPool::Loop() {
  uint64_t seen = 0;
  while (true) {
    for (int i = 0; i < kSpins && round_ == seen; ++i) {
    }
    if (round_ == seen) {
      std::unique_lock<std::mutex> lock(mutex_);
      start_.wait(lock, [&] { return round_ != seen; });
    }
    if (stop_) return;
    seen = round_;
    Work();
    --working_;
  }
}

void ThreadPool::Run(uint32_t tasks, void (*task)(void* context, uint32_t i),
                     void* context) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_ = tasks;
    task_ = task;
    context_ = context;
    next_ = 0;
    working_ = static_cast<int>(threads_.size());
    ++round_;
  }
  start_.notify_all();
  Work();
  while (working_ != 0) std::this_thread::yield();
}

void ThreadPool::ParallelFor(void* pool, uint32_t tasks,
                             void (*task)(void* context, uint32_t i),
                             void* context) {
  static_cast<ThreadPool*>(pool)->Run(tasks, task, context);
}

}  // namespace fold::tools
