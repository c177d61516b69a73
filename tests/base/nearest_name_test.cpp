#include "base/nearest_name.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

const std::vector<std::string_view> trajectories = {"ot", "vp-sqrt", "vp-cosine", "vp-linear",
                                                    "ve"};

TEST(NearestName, FindsNamesWithATypo) {
  EXPECT_EQ(nearest_name("vp-sqr", trajectories), "vp-sqrt");
  EXPECT_EQ(nearest_name("vp_cosine", trajectories), "vp-cosine");
  EXPECT_EQ(nearest_name("vp-linearr", trajectories), "vp-linear");
  EXPECT_EQ(nearest_name("process.trajectroy", {"process.horizon", "process.trajectory"}),
            "process.trajectory");
}

TEST(NearestName, CountsASwapOfNeighboursAsOneEdit) {
  EXPECT_EQ(nearest_name("to", {"ab", "ot"}), "ot");
  EXPECT_EQ(nearest_name("abdc", {"abxy", "abcd"}), "abcd");
}

TEST(NearestName, IgnoresCase) {
  EXPECT_EQ(nearest_name("OT", trajectories), "ot");
  EXPECT_EQ(nearest_name("VP-SQRT", trajectories), "vp-sqrt");
}

TEST(NearestName, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("banana", trajectories), "");
  EXPECT_EQ(nearest_name("xy", trajectories), "");
  EXPECT_EQ(nearest_name("a", {"b"}), "");
  EXPECT_EQ(nearest_name("", trajectories), "");
  EXPECT_EQ(nearest_name("ot", {}), "");
}

TEST(NearestName, TakesTheFirstOfEquallyNearOnes) {
  EXPECT_EQ(nearest_name("cat", {"car", "bat"}), "car");
  EXPECT_EQ(nearest_name("cat", {"bat", "car"}), "bat");
}

TEST(DidYouMean, IsTheEndOfAMessageOrNothing) {
  EXPECT_EQ(did_you_mean("vp-sqr", trajectories), " (did you mean 'vp-sqrt'?)");
  EXPECT_EQ(did_you_mean("banana", trajectories), "");
}

}  // namespace
}  // namespace tessera
