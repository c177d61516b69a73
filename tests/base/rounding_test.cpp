#include "base/rounding.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(CeilDiv, CountsThePartThatIsNotFull) {
  EXPECT_EQ(ceil_div(0, 4), 0);
  EXPECT_EQ(ceil_div(1, 4), 1);
  EXPECT_EQ(ceil_div(4, 4), 1);
  EXPECT_EQ(ceil_div(5, 4), 2);
  EXPECT_EQ(ceil_div(int64_t{1} << 40, 3), 366503875926);
}

TEST(RoundUp, GivesMultiplesAndLeavesThemAsTheyAre) {
  EXPECT_EQ(round_up(0, 8), 0);
  EXPECT_EQ(round_up(1, 8), 8);
  EXPECT_EQ(round_up(8, 8), 8);
  EXPECT_EQ(round_up(size_t{9}, 8), size_t{16});
}

}  // namespace
}  // namespace tessera
