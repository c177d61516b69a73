#include "stop_signal.h"

#include "support/wait_until.h"

#include <tessera/base/error.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace tessera::app {
namespace {

// Exit code of a child process that runs `act` and then exits with 0; -1 if a signal ended it.
int exit_code_of(const std::function<void()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    act();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StopSignal, AsksItsTokenToStop) {
  for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const StopSignal stop;
    EXPECT_FALSE(stop.token().stop_requested());
    EXPECT_EQ(stop.signal(), 0);
    raise(signal);
    EXPECT_EQ(stop.signal(), signal);
    EXPECT_EQ(Stopped(stop.signal()).exit_code(), code);
    EXPECT_TRUE(test::wait_until([&] { return stop.token().stop_requested(); }));
  }
}

TEST(StopSignal, SecondSignalLeavesAtOnce) {
  EXPECT_EQ(exit_code_of([] {
              const StopSignal stop;
              raise(SIGTERM);
              usleep(150'000);
              raise(SIGINT);
            }),
            130);
}

TEST(StopSignal, DoubleDeliveryCountsOnce) {
  EXPECT_EQ(exit_code_of([] {
              const StopSignal stop;
              raise(SIGTERM);
              raise(SIGTERM);
              if (stop.signal() != SIGTERM) _exit(1);
            }),
            0);
}

volatile std::sig_atomic_t seen_by_old_handler = 0;

TEST(StopSignal, PutsTheFormerHandlersBack) {
  const auto before = std::signal(SIGTERM, [](int) { seen_by_old_handler = 1; });
  {
    const StopSignal stop;
    raise(SIGTERM);
    EXPECT_EQ(seen_by_old_handler, 0);
  }
  raise(SIGTERM);
  EXPECT_EQ(seen_by_old_handler, 1);
  std::signal(SIGTERM, before);
}

TEST(StopSignal, InterruptsNoSystemCall) {
  EXPECT_EQ(exit_code_of([] {
              const StopSignal stop;
              int ends[2];
              if (pipe(ends) != 0) _exit(1);
              const pid_t parent = getpid();
              if (fork() == 0) {
                usleep(20'000);
                kill(parent, SIGTERM);
                usleep(20'000);
                _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
              }
              char byte = 0;
              if (read(ends[0], &byte, 1) != 1 || stop.signal() == 0) _exit(1);
            }),
            0);
}

TEST(StopSignal, ThereIsOneAtATime) {
  const StopSignal stop;
  EXPECT_THROW(StopSignal(), Error);
}

TEST(Stopped, KnowsItsExitCode) {
  EXPECT_EQ(Stopped(SIGINT).exit_code(), 130);
  EXPECT_EQ(Stopped(SIGTERM).exit_code(), 143);
  EXPECT_STREQ(Stopped(SIGTERM).what(), "stopped by SIGTERM");
}

}  // namespace
}  // namespace tessera::app
