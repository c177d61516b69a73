#include "base/log.h"

#include <gtest/gtest.h>

#include <cctype>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace tessera {
namespace {

// What `talk` writes to stderr at a level.
std::string said(log::Level level, const std::function<void()>& talk) {
  log::set_level(level);
  testing::internal::CaptureStderr();
  talk();
  std::string text = testing::internal::GetCapturedStderr();
  log::set_level(log::Level::normal);
  return text;
}

void say_everything() {
  log::debug("one {}", 1);
  log::info("two {}", 2);
  log::warn("three {}", 3);
  log::error("four {}", 4);
}

// The lines of a text with every digit of the time made a 0.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    for (char& c : line) {
      if (c == ']') break;
      if (std::isdigit(static_cast<unsigned char>(c))) c = '0';
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(Log, LinesCarryTimeAndSeverity) {
  EXPECT_EQ(lines_of(said(log::Level::debug, say_everything)),
            (std::vector<std::string>{
                "[0000-00-00 00:00:00] debug: one 1",
                "[0000-00-00 00:00:00] two 2",
                "[0000-00-00 00:00:00] warn: three 3",
                "[0000-00-00 00:00:00] error: four 4",
            }));
}

TEST(Log, LevelDecidesWhatIsSaid) {
  const std::string normal = said(log::Level::normal, say_everything);
  EXPECT_EQ(normal.find("one 1"), std::string::npos);
  EXPECT_NE(normal.find("two 2"), std::string::npos);
  const std::string quiet = said(log::Level::quiet, say_everything);
  EXPECT_EQ(quiet.find("two 2"), std::string::npos);
  EXPECT_NE(quiet.find("warn: three 3"), std::string::npos);
  EXPECT_NE(quiet.find("error: four 4"), std::string::npos);
}

TEST(Log, WritesNothingToStdout) {
  testing::internal::CaptureStdout();
  said(log::Level::debug, say_everything);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Log, ShowsWhatWouldSteerATerminal) {
  EXPECT_NE(said(log::Level::normal, [] { log::warn("a {}", "\x1b[2Jb"); }).find("a \\x1b[2Jb"),
            std::string::npos);
}

TEST(Log, BracesInArgumentsAreNotFormats) {
  EXPECT_NE(said(log::Level::normal, [] { log::info("{}", "a {} b"); }).find("a {} b"),
            std::string::npos);
}

TEST(Log, LinesOfThreadsStayWhole) {
  const std::string text = said(log::Level::normal, [] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([] {
        for (int j = 0; j < 100; ++j) log::warn("{}", std::string(50, 'x'));
      });
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(lines_of(text),
            std::vector<std::string>(400, "[0000-00-00 00:00:00] warn: " + std::string(50, 'x')));
}

int hook_calls = 0;

TEST(Log, CallsTheHookBeforeEveryLineThatIsWritten) {
  log::set_before_line([] { ++hook_calls; });
  said(log::Level::quiet, say_everything);
  log::set_before_line(nullptr);
  said(log::Level::quiet, say_everything);
  EXPECT_EQ(hook_calls, 2);
}

}  // namespace
}  // namespace tessera
