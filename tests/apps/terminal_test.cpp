#include "terminal.h"

#include "base/log.h"
#include "console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

namespace tessera::app {
namespace {

using testing::HasSubstr;
using testing::Not;

// What a child process writes when its stderr is a terminal.
std::string on_terminal(const std::function<void()>& talk) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("NO_COLOR");
    talk();
    ::_exit(0);
  }
  std::string text;
  char buffer[256];
  for (ssize_t n; (n = ::read(terminal, buffer, sizeof buffer)) > 0;) text.append(buffer, n);
  ::close(terminal);
  ::waitpid(child, nullptr, 0);
  return text;
}

void talk() {
  const auto console = std::make_unique<Console>();
  console->listen();
  log::highlight("the best");
  log::warn("a warning");
  log::error("an error");
  set_log_sink({});
  set_progress_sink({});
}

TEST(Terminal, ShowsColours) {
  const std::string text = on_terminal(talk);
  EXPECT_THAT(text, HasSubstr("\x1b[1mthe best\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[33mwarn:\x1b[0m a warning"));
  EXPECT_THAT(text, HasSubstr("\x1b[31merror:\x1b[0m an error"));
}

TEST(Terminal, ShowsNoColoursWhereTheyAreNotWanted) {
  for (const auto& [name, value] : {std::pair("NO_COLOR", "1"), std::pair("TERM", "dumb")}) {
    const std::string text = on_terminal([&] {
      ::setenv(name, value, 1);
      talk();
    });
    EXPECT_THAT(text, HasSubstr("warn: a warning")) << name;
    EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << name;
  }
  EXPECT_THAT(on_terminal([] {
                ::setenv("NO_COLOR", "", 1);
                talk();
              }),
              HasSubstr("\x1b"))
      << "an empty NO_COLOR is none";
}

TEST(Terminal, NoColoursGoIntoAFile) {
  ::setenv("TERM", "xterm", 1);
  testing::internal::CaptureStderr();
  talk();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace tessera::app
