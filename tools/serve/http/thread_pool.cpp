#include "serve/http/thread_pool.h"

#include <system_error>
#include <utility>

namespace tessera::serve {

bool ThreadPool::run(std::function<void()>& task) {
  const std::lock_guard lock(mutex_);
  if (tasks_.size() >= idle_) {
    if (threads_.size() >= most_) return false;
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      return false;  // the system has no more
    }
    ++idle_;  // it is, until it takes the task
  }
  tasks_.push_back(std::move(task));
  arrived_.notify_one();
  return true;
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    --idle_;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    ++idle_;
  }
}

void ThreadPool::join() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    arrived_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace tessera::serve
