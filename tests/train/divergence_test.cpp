#include "train/divergence.h"

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

const DivergenceOptions kSmall{.factor = 4, .window = 4, .spikes = 2};

DivergenceWatch calm() {
  DivergenceWatch watch(kSmall);
  for (int64_t step = 0; step < 4; ++step) EXPECT_FALSE(watch.add(step, 2.0));
  return watch;
}

TEST(DivergenceWatch, StopsAtOnceWhereTheLossIsNoNumber) {
  for (const double loss : {std::nan(""), double(INFINITY), -double(INFINITY)}) {
    DivergenceWatch watch;
    EXPECT_THAT(watch.add(7, loss), Optional(HasSubstr("at step 7")));
  }
}

TEST(DivergenceWatch, StopsAfterSpikesInARow) {
  DivergenceWatch watch = calm();
  EXPECT_FALSE(watch.add(10, 9.0));
  EXPECT_FALSE(watch.add(11, 2.0));  // back: one bad batch
  EXPECT_FALSE(watch.add(12, 9.0));
  EXPECT_THAT(watch.add(13, 9.5), Optional(HasSubstr("9.5 at step 13")));
}

TEST(DivergenceWatch, AcceptsWhatIsBelowTheFactor) {
  DivergenceWatch watch = calm();
  for (int64_t step = 10; step < 30; ++step) EXPECT_FALSE(watch.add(step, 8.0));
}

TEST(DivergenceWatch, DoesNotJudgeTheFirstLosses) {
  DivergenceWatch watch(kSmall);
  EXPECT_FALSE(watch.add(0, 0.1));
  for (int64_t step = 1; step < 10; ++step) EXPECT_FALSE(watch.add(step, 100.0));
}

TEST(DivergenceWatch, FollowsAFallingLoss) {
  DivergenceWatch watch(kSmall);
  for (int64_t step = 0; step < 100; ++step)
    EXPECT_FALSE(watch.add(step, 10.0 * std::pow(0.9, double(step))));
  EXPECT_FALSE(watch.add(100, 1.0));
  EXPECT_TRUE(watch.add(101, 1.0));
}

TEST(DivergenceWatch, LeavesLossesBelowZeroAlone) {
  DivergenceWatch watch(kSmall);
  for (int64_t step = 0; step < 10; ++step) EXPECT_FALSE(watch.add(step, -1.0));
  for (int64_t step = 10; step < 12; ++step) EXPECT_FALSE(watch.add(step, 50.0));
}

TEST(DivergenceWatch, FactorZeroOnlyLooksForNumbers) {
  DivergenceWatch watch({.factor = 0, .window = 4, .spikes = 1});
  for (int64_t step = 0; step < 10; ++step) EXPECT_FALSE(watch.add(step, std::pow(10., step)));
  EXPECT_TRUE(watch.add(10, std::nan("")));
}

TEST(DivergenceWatch, GoesOnWhereItsStateWasTaken) {
  const std::vector<double> losses{3, 0.1 + 0.2, 1, 1, 9, 1, 2, 30, 40};
  for (size_t cut = 0; cut <= losses.size(); ++cut) {
    DivergenceWatch whole(kSmall), first(kSmall), second(kSmall);
    for (size_t step = 0; step < losses.size(); ++step) {
      if (step == cut) second.restore(json::parse(first.state().dump()));
      const auto expected = whole.add(int64_t(step), losses[step]);
      EXPECT_EQ((step < cut ? first : second).add(int64_t(step), losses[step]), expected);
      EXPECT_EQ(expected.has_value(), step == 8);
    }
  }
}

TEST(DivergenceWatch, RefusesNonsense) {
  DivergenceWatch watch;
  EXPECT_THROW(watch.restore({{"recent", {1, nullptr}}, {"spikes", 0}}), Error);
  EXPECT_THROW(watch.restore({}), Error);
  EXPECT_THROW(DivergenceWatch({.factor = 0.5}), UsageError);
  EXPECT_THROW(DivergenceWatch({.window = 0}), UsageError);
}

}  // namespace
}  // namespace tessera::train
