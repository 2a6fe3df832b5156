// A few threads that run numbered tasks: the parallel-for that foldrun lends to
// the runtime.
#ifndef RUNTIME_TOOLS_THREAD_POOL_H_
#define RUNTIME_TOOLS_THREAD_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace fold::tools {

class ThreadPool {
 public:
  // The caller of Run is one of the `threads`.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls task(context, i) for each i < tasks and returns when all are done.
  // One Run at a time.
  void Run(uint32_t tasks, void (*task)(void* context, uint32_t i),
           void* context);

  // As fold_parallel_for, with the pool as its context.
  static void ParallelFor(void* pool, uint32_t tasks,
                          void (*task)(void* context, uint32_t i),
                          void* context);

 private:
  void Loop();
  void Work();

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::atomic<uint64_t> round_{0};
  std::atomic<int> working_{0};
  std::atomic<bool> stop_{false};
  std::atomic<uint32_t> next_{0};
  uint32_t tasks_ = 0;
  void (*task_)(void* context, uint32_t i) = nullptr;
  void* context_ = nullptr;
};

}  // namespace fold::tools

#endif  // RUNTIME_TOOLS_THREAD_POOL_H_
