#include "stop_signal.h"

#include "base/require.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace tessera::app {
namespace {

constexpr int64_t kSameSignalNanoseconds = 100'000'000;

// A handler may touch only lock-free atomics, and functions that are safe in a handler. Stopping a
// token is not safe there: a thread that waits for the bell does it. The bell is never closed,
// because a handler may still be at work in another thread when a StopSignal ends.
std::atomic<bool> in_use{false};
std::atomic<int64_t> first_came_at{0};  // 0: not yet
std::atomic<int> received{0};
std::atomic<int> bell{-1};
static_assert(std::atomic<int64_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec + 1;
}

void ring() {
  const uint64_t once = 1;
  [[maybe_unused]] const ssize_t written = ::write(bell, &once, sizeof once);
}

void wait_for_the_bell() {
  pollfd waited{bell, POLLIN, 0};
  ::poll(&waited, 1, -1);
  uint64_t rung = 0;
  [[maybe_unused]] const ssize_t read = ::read(bell, &rung, sizeof rung);
}

extern "C" void take_stop_signal(int signal) {
  const int saved_errno = errno;
  const int64_t time = now();
  int64_t first = 0;
  // Threads may receive two signals at the same time: the clock decides which is the first.
  if (first_came_at.compare_exchange_strong(first, time)) {
    received = signal;
    ring();
  } else if (time - first > kSameSignalNanoseconds) {
    ::_exit(128 + signal);
  }
  errno = saved_errno;
}

std::string signal_name(int signal) {
  if (signal == SIGINT) return "SIGINT";
  if (signal == SIGTERM) return "SIGTERM";
  return fmt::format("signal {}", signal);
}

}  // namespace

Stopped::Stopped(int signal) : signal_(signal), text_("stopped by " + signal_name(signal)) {}

StopSignal::StopSignal() {
  require(!in_use.exchange(true), "signals are being waited for already");
  if (bell < 0) bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (bell < 0) {
    in_use = false;
    throw Error("no file descriptor is left to wait for signals with");
  }
  first_came_at = 0;
  received = 0;
  watcher_ = std::thread([this] { watch(); });
  struct sigaction action {};
  action.sa_handler = take_stop_signal;
  // Without SA_RESTART a signal would fail the writing of a checkpoint that is under way.
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &old_interrupt_);
  ::sigaction(SIGTERM, &action, &old_terminate_);
}

StopSignal::~StopSignal() {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
  ending_ = true;
  ring();
  watcher_.join();
  in_use = false;
}

int StopSignal::signal() const {
  return received;
}

void StopSignal::watch() {
  while (!ending_ && received == 0) wait_for_the_bell();
  if (received != 0) source_.request_stop();
}

}  // namespace tessera::app
