#include "train/stop_signal.h"

#include "base/require.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace tessera::train {
namespace {

constexpr int64_t kSameSignalNanoseconds = 100'000'000;

// What a handler may touch: lock-free atomics only.
std::atomic<bool> in_use{false};
std::atomic<int64_t> first_came_at{0};  // 0: not yet
std::atomic<int> received{0};
static_assert(std::atomic<int64_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec + 1;
}

extern "C" void take_stop_signal(int signal) {
  const int saved_errno = errno;
  const int64_t time = now();
  int64_t first = 0;
  // Threads may take two signals side by side: the clock decides which is the first.
  if (first_came_at.compare_exchange_strong(first, time))
    received = signal;
  else if (time - first > kSameSignalNanoseconds)
    ::_exit(128 + signal);
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
  first_came_at = 0;
  received = 0;
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
  in_use = false;
}

int StopSignal::signal() const {
  return received;
}

}  // namespace tessera::train
