#include "log_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tessera::app {
namespace {

const std::string kTime(22, ' ');  // as wide as the time

TEST(LogFields, StandTwoBlanksApart) {
  EXPECT_EQ(wrapped_fields({"step 200", "loss 1.23"}), "step 200  loss 1.23");
  EXPECT_EQ(wrapped_fields({}), "");
}

TEST(LogFields, GoOnBelowWhereALineIsFull) {
  const std::string half(38, 'x');  // 22 + 38 + 2 + 38 is 100
  EXPECT_EQ(wrapped_fields({half, half}), half + "  " + half);
  EXPECT_EQ(wrapped_fields({half, half + "x", "y"}), half + "\n" + kTime + "  " + half + "x  y");
  const std::string wide(120, 'x');
  EXPECT_EQ(wrapped_fields({wide, "y"}), wide + "\n" + kTime + "  y")
      << "what is too wide stays whole";
}

TEST(LogText, SaysHowMuchALineMatters) {
  EXPECT_EQ(log_text({Severity::debug, "one", {}}), "debug: one");
  EXPECT_EQ(log_text({Severity::info, "two", {}}), "two");
  EXPECT_EQ(log_text({Severity::warning, "three", {}}), "warn: three");
  EXPECT_EQ(log_text({Severity::error, "four", {}}), "error: four");
}

TEST(LogText, WrapsALineThatIsAList) {
  const std::string wide(60, 'x');
  EXPECT_EQ(log_text({Severity::info, wide + "  " + wide, {wide, wide}}),
            wide + "\n" + kTime + "  " + wide);
}

}  // namespace
}  // namespace tessera::app
