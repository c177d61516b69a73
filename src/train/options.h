#pragma once

#include "config/config.h"
#include "train/checkpoints.h"
#include "train/divergence.h"
#include "train/early_stop.h"
#include "train/learner.h"
#include "train/schedule.h"

#include <filesystem>

namespace tessera::train {

struct RunOptions {
  std::filesystem::path out = {};
  int64_t steps = 100000;
  uint64_t seed = 1;
  std::filesystem::path init = {};  // a run or model folder whose weights to start from
  int64_t log_every = 100;          // updates between two lines of the log
  int64_t save_every = 1000;        // updates between two checkpoints
  int64_t validate_every = 1000;    // updates between two validations; 0: only at the end
  bool deterministic = false;       // CUDA: equal runs give equal bits, some operations are slower
};

// How a run trains, whatever it trains.
struct TrainingOptions {
  RunOptions run = {};
  LearnerOptions learner = {};
  ScheduleOptions schedule = {};
  RetentionOptions retention = {};
  EarlyStopOptions early_stop = {};
  DivergenceOptions divergence = {};
};

// Keys "train.*".
void declare(config::Schema& schema, TrainingOptions& options);

}  // namespace tessera::train
