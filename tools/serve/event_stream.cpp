#include "serve/event_stream.h"

#include <utility>

namespace tessera::serve {
namespace {

// What a slow client leaves waiting. Beyond it steps are left out: they are there to be watched.
constexpr size_t kMostWaiting = 4 << 20;

}  // namespace

void EventStream::send(std::string_view name, std::string_view data) {
  if (left_.stop_requested()) return;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || (waiting_.size() > kMostWaiting && name == "step")) return;
    waiting_.append("event: ").append(name).append("\ndata: ").append(data).append("\n\n");
  }
  arrived_.notify_one();
}

void EventStream::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_one();
}

std::string EventStream::take(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, wait, [&] { return closed_ || !waiting_.empty(); });
  return std::exchange(waiting_, {});
}

bool EventStream::finished() const {
  const std::lock_guard lock(mutex_);
  return closed_ && waiting_.empty();
}

void EventStream::abandon() {
  left_.request_stop();
}

}  // namespace tessera::serve
