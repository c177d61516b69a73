#include "train/declare.h"

#include <tessera/base/error.h>

#include <gtest/gtest.h>

namespace tessera::train {
namespace {

TEST(TrainOptions, AreReadFromTheirKeys) {
  ScheduleOptions schedule;
  RetentionOptions retention;
  EarlyStopOptions early_stop;
  DivergenceOptions divergence;
  config::Schema schema;
  declare(schema, "train.", schedule);
  declare(schema, "train.", retention);
  declare(schema, "train.", early_stop);
  declare(schema, "train.", divergence);
  schema.read_text(
      "[train]\nschedule = 'cosine'\nlearning_rate = 1e-3\nwarmup = 20\nmin_ratio = 0.1\n"
      "keep_last = 5\nkeep_best = 2\npatience = 7\ndivergence_factor = 0\n",
      "recipe");
  schema.finish();
  EXPECT_EQ(schedule.kind, ScheduleKind::cosine);
  EXPECT_EQ(schedule.learning_rate, 1e-3);
  EXPECT_EQ(schedule.warmup, 20);
  EXPECT_EQ(retention.keep_last, 5);
  EXPECT_EQ(retention.keep_best, 2);
  EXPECT_EQ(early_stop.patience, 7);
  EXPECT_EQ(divergence.factor, 0);
}

TEST(TrainOptions, OutOfRangeAreRefused) {
  for (const char* wrong : {"train.keep_last=0", "train.warmup=-1", "train.min_ratio=2",
                            "train.divergence_factor=0.5", "train.schedule=sqrt"}) {
    ScheduleOptions schedule;
    RetentionOptions retention;
    DivergenceOptions divergence;
    config::Schema schema;
    declare(schema, "train.", schedule);
    declare(schema, "train.", retention);
    declare(schema, "train.", divergence);
    schema.apply_override(wrong);
    EXPECT_THROW(schema.finish(), UsageError) << wrong;
  }
}

}  // namespace
}  // namespace tessera::train
