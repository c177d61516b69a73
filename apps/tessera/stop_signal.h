#pragma once

#include <atomic>
#include <csignal>
#include <exception>
#include <stop_token>
#include <string>
#include <thread>

namespace tessera::app {

// Thrown to leave a command that a signal stopped, after it has saved: not an error. main() ends
// with exit_code().
class Stopped : public std::exception {
 public:
  explicit Stopped(int signal);

  int signal() const noexcept { return signal_; }
  int exit_code() const noexcept { return 128 + signal_; }  // 130 for SIGINT, 143 for SIGTERM
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  int signal_;
  std::string text_;
};

// While an object lives, the first SIGINT or SIGTERM only asks the token to stop. A second one ends
// the process at once, with its code. But within a tenth of a second it counts as the same signal,
// because `timeout` and some shells send a signal to a process and to its group.
//   StopSignal stop;
//   if (work(stop.token()) == stopped) throw Stopped(stop.signal());
// The destructor restores the former handlers. There can be only one at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  int signal() const;  // 0: none came

 private:
  void watch();

  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  std::stop_source source_;
  std::atomic<bool> ending_{false};
  std::thread watcher_;
};

}  // namespace tessera::app
