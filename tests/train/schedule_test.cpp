#include "train/schedule.h"

#include <tessera/base/error.h>

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::train {
namespace {

ScheduleOptions options_of(ScheduleKind kind) {
  ScheduleOptions options;
  options.kind = kind;
  options.learning_rate = 1.0;
  options.warmup = 10;
  return options;
}

TEST(Schedule, RisesLinearlyWhateverComesThen) {
  for (const auto& [kind, name] : EnumNames<ScheduleKind>::values) {
    const ScheduleOptions options = options_of(kind);
    EXPECT_DOUBLE_EQ(learning_rate(options, 0, 100), 0.1) << name;
    EXPECT_DOUBLE_EQ(learning_rate(options, 4, 100), 0.5) << name;
    EXPECT_DOUBLE_EQ(learning_rate(options, 9, 100), 1.0) << name;
  }
}

TEST(Schedule, InverseSqrtIsTheFormula) {
  const ScheduleOptions defaults;
  for (const int64_t step : {0, 1, 1498, 1499, 1500, 1501, 5999, 1'000'000}) {
    const double done = static_cast<double>(step + 1);
    EXPECT_DOUBLE_EQ(learning_rate(defaults, step, 7000),
                     7e-4 * std::min(done / 1500, std::sqrt(1500 / done)))
        << step;
  }
  EXPECT_DOUBLE_EQ(learning_rate(defaults, 5999, 7000), 3.5e-4);  // four warm-ups: half
}

TEST(Schedule, CosineAndLinearEndAtTheirFraction) {
  for (const ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::linear}) {
    ScheduleOptions options = options_of(kind);
    options.min_ratio = 0.1;
    EXPECT_DOUBLE_EQ(learning_rate(options, 54, 100), 0.55) << name_of(kind);  // halfway
    EXPECT_DOUBLE_EQ(learning_rate(options, 99, 100), 0.1) << name_of(kind);
    EXPECT_DOUBLE_EQ(learning_rate(options, 5000, 100), 0.1) << name_of(kind);
    for (int64_t step = 10; step < 100; ++step)
      EXPECT_LT(learning_rate(options, step, 100), learning_rate(options, step - 1, 100));
  }
}

TEST(Schedule, DecayStepsMakeItIndependentOfTheLengthOfTheRun) {
  ScheduleOptions options = options_of(ScheduleKind::cosine);
  EXPECT_TRUE(depends_on_total_steps(options));
  EXPECT_NE(learning_rate(options, 50, 100), learning_rate(options, 50, 200));
  options.decay_steps = 80;
  EXPECT_FALSE(depends_on_total_steps(options));
  EXPECT_EQ(learning_rate(options, 50, 100), learning_rate(options, 50, 200));
  EXPECT_FALSE(depends_on_total_steps(options_of(ScheduleKind::inverse_sqrt)));
  EXPECT_FALSE(depends_on_total_steps(options_of(ScheduleKind::constant)));
}

TEST(Schedule, NoWarmUpBeginsAtTheHighest) {
  for (const auto& [kind, name] : EnumNames<ScheduleKind>::values) {
    ScheduleOptions options = options_of(kind);
    options.warmup = 0;
    EXPECT_DOUBLE_EQ(learning_rate(options, 0, 100), 1.0) << name;
  }
}

TEST(Schedule, SurvivesRunsShorterThanTheWarmUp) {
  ScheduleOptions options = options_of(ScheduleKind::cosine);
  EXPECT_DOUBLE_EQ(learning_rate(options, 4, 5), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(options, 9, 5), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(options, 10, 5), 0.0);
}

TEST(Schedule, RefusesNonsense) {
  ScheduleOptions options;
  EXPECT_THROW(learning_rate(options, -1, 10), Error);
  options.warmup = -1;
  EXPECT_THROW(learning_rate(options, 0, 10), UsageError);
  options = {};
  options.min_ratio = 1.5;
  EXPECT_THROW(learning_rate(options, 0, 10), UsageError);
}

TEST(EmaDecay, GrowsToItsTarget) {
  EXPECT_DOUBLE_EQ(ema_decay(0.999, 0), 0.1);
  EXPECT_DOUBLE_EQ(ema_decay(0.999, 8), 0.5);
  EXPECT_DOUBLE_EQ(ema_decay(0.999, 100'000), 0.999);
  EXPECT_DOUBLE_EQ(ema_decay(0.0, 5), 0.0);
}

}  // namespace
}  // namespace tessera::train
