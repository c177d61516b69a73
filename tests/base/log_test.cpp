#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace tessera {
namespace {

// Collects the lines that the library logs, from construction to destruction.
class Heard {
 public:
  Heard() {
    set_log_sink([this](const LogLine& line) { lines.push_back(line); });
  }
  ~Heard() { set_log_sink({}); }

  std::vector<LogLine> lines;
};

TEST(Log, IsSilentWithoutASink) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  log::error("one {}", 1);
  log::fields({"two"});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Log, TellsTheSinkHowMuchALineMatters) {
  const Heard heard;
  log::debug("one {}", 1);
  log::info("two");
  log::highlight("three");
  log::warn("four");
  log::error("five");
  ASSERT_EQ(heard.lines.size(), 5u);
  EXPECT_EQ(heard.lines[0].text, "one 1");
  const Severity expected[] = {Severity::debug, Severity::info, Severity::highlight,
                               Severity::warning, Severity::error};
  for (size_t k = 0; k < 5; ++k) EXPECT_EQ(heard.lines[k].severity, expected[k]) << k;
}

TEST(Log, ShowsWhatWouldSteerATerminal) {
  const Heard heard;
  log::warn("a {}", "\x1b[2Jb");
  log::fields({"c\x1b[2J", "d"});
  EXPECT_EQ(heard.lines[0].text, "a \\x1b[2Jb");
  EXPECT_EQ(heard.lines[1].text, "c\\x1b[2J  d");
  EXPECT_EQ(heard.lines[1].fields, (std::vector<std::string>{"c\\x1b[2J", "d"}));
}

TEST(Log, BracesInArgumentsAreNotFormats) {
  const Heard heard;
  log::info("{}", "a {} b");
  EXPECT_EQ(heard.lines[0].text, "a {} b");
}

TEST(Log, CallsTheSinkForOneLineAtATime) {
  const Heard heard;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int j = 0; j < 100; ++j) log::info("line");
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(heard.lines.size(), 400u);
}

TEST(Log, DoesNotCallASinkThatWasReplaced) {
  int calls = 0;
  set_log_sink([&](const LogLine&) { ++calls; });
  log::info("one");
  set_log_sink({});
  log::info("two");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace tessera
