#include "base/log_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tessera::log {
namespace {

const std::string kTime(22, ' ');  // as wide as the time

TEST(LogFields, StandTwoBlanksApart) {
  EXPECT_EQ(fields({"step 200", "loss 1.23"}), "step 200  loss 1.23");
  EXPECT_EQ(fields({}), "");
}

TEST(LogFields, GoOnBelowWhereALineIsFull) {
  const std::string half(38, 'x');  // 22 + 38 + 2 + 38 is 100
  EXPECT_EQ(fields({half, half}), half + "  " + half);
  EXPECT_EQ(fields({half, half + "x", "y"}), half + "\n" + kTime + "  " + half + "x  y");
  const std::string wide(120, 'x');
  EXPECT_EQ(fields({wide, "y"}), wide + "\n" + kTime + "  y") << "what is too wide stays whole";
}

}  // namespace
}  // namespace tessera::log
