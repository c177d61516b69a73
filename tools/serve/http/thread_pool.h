#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::serve {

// Threads for connections, made when they are needed and kept.
class ThreadPool {
 public:
  explicit ThreadPool(size_t most) : most_(most) {}
  ~ThreadPool() { join(); }

  // False where all threads are at work, or the system has no more; the task is not taken then.
  bool run(std::function<void()>& task);

  void join();  // after the last task

 private:
  void work();

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool ending_ = false;
};

}  // namespace tessera::serve
