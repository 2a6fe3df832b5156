// Threads of the server: a pool with a bounded queue that is fair to its
// clients. The only place that makes a thread.
#ifndef FOLD_SERVER_WORKER_POOL_H_
#define FOLD_SERVER_WORKER_POOL_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace fold {

class WorkerPool {
 public:
  using Task = std::function<void()>;

  // `threads` tasks run at a time; up to `queue_length` wait.
  WorkerPool(int64_t threads, int64_t queue_length);
  // Runs what was accepted to its end.
  ~WorkerPool();

  // False if all threads are busy and the queue is full, or after Stop. Those
  // who wait take turns: the next task is that of the client whose turn is
  // longest ago, its oldest. So a client waits for at most one task of each
  // other client for each of its own, however many those have.
  bool Submit(Task task, const std::string& client = "");
  // Accepts nothing more.
  void Stop();
  // Waits until nothing waits or runs, at most so long; whether that is so.
  bool WaitIdle(std::chrono::milliseconds limit);

  int64_t queued() const;
  int64_t running() const;

 private:
  void Work();
  Task TakeNext();  // with the mutex held, when `waiting_` is not 0

  const int64_t thread_limit_;
  const int64_t queue_length_;
  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable idle_;
  std::map<std::string, std::deque<Task>> queues_;  // none is empty
  std::deque<std::string> turns_;  // clients with a queue, next one first
  int64_t waiting_ = 0;            // in all queues
  int64_t running_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

// One thread for a loop of its own, joined by its destructor: the owner makes
// the loop end first.
class LoopThread {
 public:
  explicit LoopThread(std::function<void()> loop) : thread_(std::move(loop)) {}
  ~LoopThread() { thread_.join(); }

 private:
  std::thread thread_;
};

}  // namespace fold

#endif  // FOLD_SERVER_WORKER_POOL_H_
