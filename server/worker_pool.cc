#include "server/worker_pool.h"

namespace fold {

WorkerPool::WorkerPool(int64_t threads, int64_t queue_length)
    : thread_limit_(threads), queue_length_(queue_length) {
  for (int64_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
}

WorkerPool::~WorkerPool() {
  Stop();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::Submit(Task task) {
  std::lock_guard lock(mutex_);
  auto waiting = static_cast<int64_t>(queue_.size());
  // A free thread takes one that waits: it does not count against the queue.
  int64_t free = thread_limit_ - running_;
  if (stopped_ || waiting >= queue_length_ + free) return false;
  queue_.push_back(std::move(task));
  work_.notify_one();
  return true;
}

void WorkerPool::Stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  work_.notify_all();
}

bool WorkerPool::WaitIdle(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, limit,
                        [this] { return queue_.empty() && running_ == 0; });
}

int64_t WorkerPool::queued() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(queue_.size());
}

int64_t WorkerPool::running() const {
  std::lock_guard lock(mutex_);
  return running_;
}

void WorkerPool::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    lock.unlock();
    task();
    task = nullptr;  // what it holds goes before it counts as done
    lock.lock();
    --running_;
    if (queue_.empty() && running_ == 0) idle_.notify_all();
  }
}

}  // namespace fold
