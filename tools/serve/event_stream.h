#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

namespace tessera::serve {

// Events on their way from the thread that computes to the one that writes to the client.
class EventStream {
 public:
  // Producer. Adds an event; `data` is one line of JSON. Nothing happens once the client has left,
  // and events "step" are left out where it is megabytes behind.
  void send(std::string_view name, std::string_view data);
  void close();  // after the last event

  // Consumer: what can be written now, as text/event-stream; empty if nothing came within `wait`.
  std::string take(std::chrono::milliseconds wait);
  bool finished() const;  // closed, and all of it taken

  // The client has left: stops the work behind the stream.
  void abandon();
  std::stop_token abandoned() const { return left_.get_token(); }

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::string waiting_;  // formatted
  bool closed_ = false;
  std::stop_source left_;
};

}  // namespace tessera::serve
