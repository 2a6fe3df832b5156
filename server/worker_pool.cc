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

bool WorkerPool::Submit(Task task, const std::string& client) {
  std::lock_guard lock(mutex_);
  // A free thread takes one that waits: it does not count against the queue.
  int64_t free = thread_limit_ - running_;
  if (stopped_ || waiting_ >= queue_length_ + free) return false;
  std::deque<Task>& queue = queues_[client];
  if (queue.empty()) turns_.push_back(client);
  queue.push_back(std::move(task));
  ++waiting_;
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
                        [this] { return waiting_ == 0 && running_ == 0; });
}

int64_t WorkerPool::queued() const {
  std::lock_guard lock(mutex_);
  return waiting_;
}

int64_t WorkerPool::running() const {
  std::lock_guard lock(mutex_);
  return running_;
}

WorkerPool::Task WorkerPool::TakeNext() {
  std::string client = std::move(turns_.front());
  turns_.pop_front();
  auto found = queues_.find(client);
  Task task = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) {
    queues_.erase(found);
  } else {
    turns_.push_back(std::move(client));
  }
  --waiting_;
  return task;
}

void WorkerPool::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stopped_ || waiting_ > 0; });
    if (waiting_ == 0) return;
    Task task = TakeNext();
    ++running_;
    lock.unlock();
    task();
    task = nullptr;  // what it holds goes before it counts as done
    lock.lock();
    --running_;
    if (waiting_ == 0 && running_ == 0) idle_.notify_all();
  }
}

}  // namespace fold
