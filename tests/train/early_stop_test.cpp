#include "train/early_stop.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tessera::train {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Optional;

TEST(EarlyStop, StopsWhenPatienceEnds) {
  EarlyStop stop({.patience = 3});
  EXPECT_FALSE(stop.add(100, 10));
  EXPECT_FALSE(stop.add(200, 9));
  EXPECT_FALSE(stop.add(300, 10));  // equal is no gain
  EXPECT_FALSE(stop.add(400, 11));  // patience begins again
  EXPECT_FALSE(stop.add(500, 8));
  EXPECT_FALSE(stop.add(600, 8));
  EXPECT_THAT(stop.add(700, 8), Optional(HasSubstr("11.00 at step 400")));
  EXPECT_EQ(stop.best_step(), 400);
  EXPECT_EQ(stop.best_score(), 11);
  EXPECT_EQ(stop.without_gain(), 3);
}

TEST(EarlyStop, WithoutPatienceNeverStops) {
  EarlyStop stop;
  for (int64_t step = 0; step < 100; ++step) EXPECT_FALSE(stop.add(step, -double(step)));
  EXPECT_EQ(stop.best_step(), 0);
}

TEST(EarlyStop, SmallGainsDoNotCount) {
  EarlyStop stop({.patience = 2, .min_delta = 0.5});
  EXPECT_FALSE(stop.add(1, 10));
  EXPECT_FALSE(stop.add(2, 10.4));
  EXPECT_TRUE(stop.add(3, 10.5));
}

TEST(EarlyStop, ScoresThatAreNotFiniteAreBad) {
  EarlyStop stop({.patience = 2});
  EXPECT_FALSE(stop.add(1, std::nan("")));
  EXPECT_FALSE(stop.best_score());
  EXPECT_THAT(stop.add(2, INFINITY), Optional(HasSubstr("no finite score")));
}

TEST(EarlyStop, GoesOnWhereItsStateWasTaken) {
  for (int64_t cut = 0; cut <= 6; ++cut) {
    const std::vector<double> scores{std::nan(""), 0.1 + 0.2, 0.2, 0.3, 0.25, 0.1};
    EarlyStop whole({.patience = 4}), first({.patience = 4}), second({.patience = 4});
    for (int64_t step = 0; step < 6; ++step) {
      if (step == cut) second.restore(json::parse(first.state().dump()));
      const auto expected = whole.add(step, scores[size_t(step)]);
      EXPECT_EQ((step < cut ? first : second).add(step, scores[size_t(step)]), expected);
    }
  }
}

TEST(EarlyStop, RefusesAStateItDidNotMake) {
  EarlyStop stop;
  EXPECT_THROW(stop.restore(json::array()), Error);
  EXPECT_THROW(stop.restore({{"best_score", "x"}, {"best_step", 1}, {"without_gain", 0}}), Error);
  EXPECT_THROW(EarlyStop({.patience = -1}), UsageError);
}

}  // namespace
}  // namespace tessera::train
