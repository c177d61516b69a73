#include "console.h"

#include "base/log.h"
#include "base/progress.h"

#include <gtest/gtest.h>

#include <cctype>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace tessera::app {
namespace {

using Level = Console::Level;

// Returns what the console writes to stderr while `act` runs.
std::string seen(const ProgressDisplay& display, const std::function<void()>& act,
                 Level level = Level::normal) {
  // On the heap: the thread sanitizer takes mutexes at the same stack address for one mutex.
  const auto console = std::make_unique<Console>(display);
  console->set_level(level);
  console->listen();
  testing::internal::CaptureStderr();
  act();
  std::string text = testing::internal::GetCapturedStderr();
  set_log_sink({});
  set_progress_sink({});
  return text;
}

std::string said(Level level, const std::function<void()>& talk) {
  return seen({}, talk, level);
}

void say_everything() {
  log::debug("one {}", 1);
  log::info("two {}", 2);
  log::warn("three {}", 3);
  log::error("four {}", 4);
}

// The lines of a text, with every digit of the time replaced by 0.
std::vector<std::string> lines_without_digits(const std::string& text) {
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

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ConsoleLog, LinesCarryTimeAndSeverity) {
  EXPECT_EQ(lines_without_digits(said(Level::debug, say_everything)),
            (std::vector<std::string>{
                "[0000-00-00 00:00:00] debug: one 1",
                "[0000-00-00 00:00:00] two 2",
                "[0000-00-00 00:00:00] warn: three 3",
                "[0000-00-00 00:00:00] error: four 4",
            }));
}

TEST(ConsoleLog, LevelDecidesWhatIsSaid) {
  const std::string normal = said(Level::normal, say_everything);
  EXPECT_EQ(normal.find("one 1"), std::string::npos);
  EXPECT_NE(normal.find("two 2"), std::string::npos);
  const std::string quiet = said(Level::quiet, say_everything);
  EXPECT_EQ(quiet.find("two 2"), std::string::npos);
  EXPECT_NE(quiet.find("warn: three 3"), std::string::npos);
  EXPECT_NE(quiet.find("error: four 4"), std::string::npos);
}

TEST(ConsoleLog, WritesNothingToStdout) {
  testing::internal::CaptureStdout();
  said(Level::debug, say_everything);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(ConsoleLog, LinesOfThreadsStayWhole) {
  const std::string text = said(Level::normal, [] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([] {
        for (int j = 0; j < 100; ++j) log::warn("{}", std::string(50, 'x'));
      });
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(lines_without_digits(text),
            std::vector<std::string>(400, "[0000-00-00 00:00:00] warn: " + std::string(50, 'x')));
}

constexpr ProgressDisplay kFile{.terminal = false, .log_seconds = 0};
constexpr ProgressDisplay kTerminal{.terminal = true, .redraw_seconds = 0};

TEST(ConsoleProgress, SaysNothingForShortWorkWithoutATerminal) {
  EXPECT_EQ(seen({},
                 [] {
                   Progress bar("sampling", 3);
                   for (int i = 0; i < 3; ++i) bar.advance();
                   bar.note("loss 1.23");
                 }),
            "");
}

TEST(ConsoleProgress, LogsLongWorkWithoutATerminal) {
  const std::string text = seen(kFile, [] {
    Progress bar("sampling", 3);
    bar.advance(2);
  });
  EXPECT_NE(text.find("] sampling  66% 2/3"), std::string::npos) << text;
  EXPECT_EQ(count_of(text, "\n"), 1u);
}

TEST(ConsoleProgress, SaysNothingWhenQuiet) {
  for (const ProgressDisplay& display : {kFile, kTerminal})
    EXPECT_EQ(seen(
                  display,
                  [] {
                    Progress bar("sampling", 3);
                    bar.advance(2);
                  },
                  Level::quiet),
              "");
}

TEST(ConsoleProgress, RedrawsOneLineOnATerminalAndEndsIt) {
  const std::string text = seen(kTerminal, [] {
    Progress bar("sampling", 3);
    for (int i = 0; i < 3; ++i) bar.advance();
  });
  EXPECT_EQ(count_of(text, "\rsampling"), 4u);  // every step, and the end
  EXPECT_EQ(count_of(text, "\n"), 1u);
  EXPECT_EQ(text.back(), '\n');
}

TEST(ConsoleProgress, DoesNotRedrawMoreOftenThanAsked) {
  const std::string text = seen({.terminal = true, .redraw_seconds = 3600}, [] {
    Progress bar("sampling", 100'000);
    for (int i = 0; i < 100'000; ++i) bar.advance();
  });
  EXPECT_EQ(count_of(text, "\rsampling"), 1u);
}

TEST(ConsoleProgress, MakesWayForLogLines) {
  const std::string text = seen(kTerminal, [] {
    Progress bar("sampling", 3);
    bar.advance();
    log::info("hello");
    bar.advance();
  });
  const size_t wiped = text.find("\r\x1b[K["), line = text.find("hello\n\rsampling");
  EXPECT_LT(wiped, line) << text;
  EXPECT_NE(line, std::string::npos) << text;
}

TEST(ConsoleProgress, InnerBarHidesTheOuterOneAndLeavesNoLine) {
  const std::string text = seen(kTerminal, [] {
    Progress outer("training", 2);
    outer.advance();
    {
      Progress inner("validating", 2);
      inner.advance();
      outer.note("not shown");
      inner.advance();
    }
    outer.advance();
  });
  EXPECT_EQ(count_of(text, "\n"), 1u) << text;
  EXPECT_NE(text.find("\rvalidating 100%"), std::string::npos) << text;
  EXPECT_LT(text.rfind("\rvalidating"), text.rfind("\rtraining")) << text;
  const size_t shown = text.find("not shown");
  EXPECT_TRUE(shown == text.npos || shown > text.rfind("\rvalidating")) << text;
}

}  // namespace
}  // namespace tessera::app
