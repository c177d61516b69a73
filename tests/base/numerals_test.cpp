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

}  // namespace
}  // namespace tessera
