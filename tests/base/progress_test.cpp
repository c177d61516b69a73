#include "base/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/log.h"

namespace tessera {
namespace {

ProgressState halfway() {
  return {.label = "sampling", .done = 420, .total = 1000, .seconds = 35, .note = "loss 1.23"};
}

TEST(ProgressLine, ShowsPercentageCountRateAndTimeLeft) {
  EXPECT_EQ(progress_line(halfway(), 80),
            "sampling  42% [==========>              ]  420/1000  12.0/s  eta 0:48  loss 1.23");
}

TEST(ProgressLine, NeverExceedsTheColumns) {
  ProgressState state = halfway();
  state.note = "a löng nöte with umlauts äöü";
  for (int columns = 1; columns < 120; ++columns) {
    const std::string line = progress_line(state, columns);
    const auto characters = std::count_if(line.begin(), line.end(),
                                          [](unsigned char byte) { return (byte & 0xc0) != 0x80; });
    EXPECT_LE(characters, columns) << line;
  }
}

TEST(ProgressLine, GivesUpBarThenNoteThenCount) {
  EXPECT_EQ(progress_line(halfway(), 54), "sampling  42%  420/1000  12.0/s  eta 0:48  loss 1.23");
  EXPECT_EQ(progress_line(halfway(), 45), "sampling  42%  420/1000  12.0/s  eta 0:48");
  EXPECT_EQ(progress_line(halfway(), 32), "sampling  42% 12.0/s  eta 0:48");
  EXPECT_EQ(progress_line(halfway(), 13), "sampling  42%");
}

TEST(ProgressLine, HasNoBarInALog) {
  EXPECT_EQ(progress_line(halfway(), 0), "sampling  42%  420/1000  12.0/s  eta 0:48  loss 1.23");
}

TEST(ProgressLine, WithoutATotalShowsCountRateAndTimeTaken) {
  ProgressState state = halfway();
  state.total = 0;
  EXPECT_EQ(progress_line(state, 80), "sampling  420  12.0/s  0:35  loss 1.23");
}

TEST(ProgressLine, AtTheStartPromisesNothing) {
  EXPECT_EQ(progress_line({.label = "reading", .total = 10}, 0), "reading   0%  0/10");
}

TEST(ProgressLine, AtTheEndShowsTheTimeTaken) {
  EXPECT_EQ(progress_line({.label = "reading", .done = 10, .total = 10, .seconds = 65}, 0),
            "reading 100% 10/10  9.23/min  1:05");
}

TEST(ProgressLine, MoreThanTheTotalIsStillAllOfIt) {
  EXPECT_EQ(progress_line({.label = "reading", .done = 12, .total = 10, .seconds = 1}, 60),
            "reading 100% [=========================] 12/10  12.0/s  0:01");
}

TEST(ProgressLine, WorkOfAnEarlierRunDoesNotCountForTheRate) {
  const ProgressState resumed{
      .label = "training", .done = 900, .total = 1000, .start = 800, .seconds = 10};
  EXPECT_EQ(progress_line(resumed, 0), "training  90%  900/1000  10.0/s  eta 0:10");
}

TEST(RateText, ChoosesTheUnit) {
  EXPECT_EQ(rate_text(2.5e9), "2.50G/s");
  EXPECT_EQ(rate_text(1.234e6), "1.23M/s");
  EXPECT_EQ(rate_text(45'600), "45.6k/s");
  EXPECT_EQ(rate_text(999.9), "1.00k/s");
  EXPECT_EQ(rate_text(123.4), "123/s");
  EXPECT_EQ(rate_text(1), "1.00/s");
  EXPECT_EQ(rate_text(0.5), "30.0/min");
  EXPECT_EQ(rate_text(0.01), "36.0/h");
}

TEST(DurationText, ChoosesTheForm) {
  EXPECT_EQ(duration_text(0), "0:00");
  EXPECT_EQ(duration_text(59.6), "1:00");
  EXPECT_EQ(duration_text(725), "12:05");
  EXPECT_EQ(duration_text(11'232), "3:07:12");
  EXPECT_EQ(duration_text(2 * 86'400 + 4 * 3'600 + 600), "2d 04:10:00");
  EXPECT_EQ(duration_text(-1), "0:00");
}

// What a piece of work with bars writes to stderr.
template <class Work>
std::string seen(Work work) {
  testing::internal::CaptureStderr();
  work();
  return testing::internal::GetCapturedStderr();
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Progress, SaysNothingForShortWorkWithoutATerminal) {
  EXPECT_EQ(seen([] {
              Progress bar("sampling", 3);
              for (int i = 0; i < 3; ++i) bar.advance();
              bar.note("loss 1.23");
            }),
            "");
}

TEST(Progress, LogsLongWorkWithoutATerminal) {
  const std::string text = seen([] {
    Progress bar("sampling", 3, 0, {.terminal = false, .log_seconds = 0});
    bar.advance(2);
  });
  EXPECT_NE(text.find("] sampling  66% 2/3"), std::string::npos) << text;
  EXPECT_EQ(count_of(text, "\n"), 1u);
}

TEST(Progress, LogsNothingWhenQuiet) {
  log::set_level(log::Level::quiet);
  EXPECT_EQ(seen([] {
              Progress bar("sampling", 3, 0, {.terminal = false, .log_seconds = 0});
              bar.advance(2);
            }),
            "");
  log::set_level(log::Level::normal);
}

TEST(Progress, RedrawsOneLineOnATerminalAndEndsIt) {
  const std::string text = seen([] {
    Progress bar("sampling", 3, 0, {.terminal = true, .redraw_seconds = 0});
    for (int i = 0; i < 3; ++i) bar.advance();
  });
  EXPECT_EQ(count_of(text, "\rsampling"), 4u);  // every step, and the end
  EXPECT_EQ(count_of(text, "\n"), 1u);
  EXPECT_EQ(text.back(), '\n');
}

TEST(Progress, DoesNotRedrawMoreOftenThanAsked) {
  const std::string text = seen([] {
    Progress bar("sampling", 100'000, 0, {.terminal = true, .redraw_seconds = 3600});
    for (int i = 0; i < 100'000; ++i) bar.advance();
  });
  EXPECT_EQ(count_of(text, "\rsampling"), 1u);
}

TEST(Progress, MakesWayForLogLines) {
  const std::string text = seen([] {
    Progress bar("sampling", 3, 0, {.terminal = true, .redraw_seconds = 0});
    bar.advance();
    log::info("hello");
    bar.advance();
  });
  const size_t wiped = text.find("\r\x1b[K["), line = text.find("hello\n\rsampling");
  EXPECT_LT(wiped, line) << text;
  EXPECT_NE(line, std::string::npos) << text;
}

TEST(Progress, InnerBarHidesTheOuterOneAndLeavesNoLine) {
  const std::string text = seen([] {
    const ProgressDisplay display{.terminal = true, .redraw_seconds = 0};
    Progress outer("training", 2, 0, display);
    outer.advance();
    {
      Progress inner("validating", 2, 0, display);
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
}  // namespace tessera
