#include "progress_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tessera::app {
namespace {

ProgressEvent halfway() {
  return {.label = "sampling", .done = 420, .total = 1000, .seconds = 35, .note = "loss 1.23"};
}

TEST(ProgressLine, ShowsPercentageCountRateAndTimeLeft) {
  EXPECT_EQ(progress_line(halfway(), 80),
            "sampling  42% [==========>              ]  420/1000  12.0/s  eta 0:48  loss 1.23");
}

TEST(ProgressLine, NeverExceedsTheColumns) {
  ProgressEvent state = halfway();
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
  ProgressEvent state = halfway();
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
  const ProgressEvent resumed{
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

}  // namespace
}  // namespace tessera::app
