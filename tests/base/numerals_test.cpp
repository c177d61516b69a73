#include "base/numerals.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(Numerals, HaveCommas) {
  EXPECT_EQ(with_commas(7), "7");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
}

TEST(Numerals, CountOneAndSeveral) {
  EXPECT_EQ(counted(0, "image"), "0 images");
  EXPECT_EQ(counted(1, "image"), "1 image");
  EXPECT_EQ(counted(2, "image"), "2 images");
  EXPECT_EQ(counted(2, "copy", "copies"), "2 copies");
  EXPECT_EQ(counted(1, "copy", "copies"), "1 copy");
}

TEST(ShortCount, GivesMillionsWithOneDigit) {
  EXPECT_EQ(short_count(99'999), "99999");
  EXPECT_EQ(short_count(36'060'000), "36.1 M");
}

TEST(DurationText, ChoosesTheForm) {
  EXPECT_EQ(duration_text(0), "0:00");
  EXPECT_EQ(duration_text(59.6), "1:00");
  EXPECT_EQ(duration_text(725), "12:05");
  EXPECT_EQ(duration_text(11'232), "3:07:12");
  EXPECT_EQ(duration_text(2 * 86'400 + 4 * 3'600 + 600), "2d 04:10:00");
  EXPECT_EQ(duration_text(-1), "0:00");
}

}  // namespace
}  // namespace tessera
