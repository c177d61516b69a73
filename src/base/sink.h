#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace tessera {

// Holds the function that a program gives the library to receive events.
template <class Event>
class Sink {
 public:
  using Function = std::function<void(const Event&)>;

  // When it returns, the former function is not being called.
  void set(Function function) {
    const std::lock_guard lock(mutex_);
    function_ = std::move(function);
    is_set_ = static_cast<bool>(function_);
  }

  bool is_set() const { return is_set_; }

  void call(const Event& event) {
    const std::lock_guard lock(mutex_);
    if (function_) function_(event);
  }

 private:
  std::recursive_mutex mutex_;  // a sink of progress may log
  std::atomic<bool> is_set_{false};
  Function function_;
};

}  // namespace tessera
