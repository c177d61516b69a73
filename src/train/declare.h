#pragma once

#include "config/config.h"
#include "train/checkpoints.h"
#include "train/divergence.h"
#include "train/early_stop.h"
#include "train/schedule.h"

// The options of training as configuration keys, each `prefix` + name.
namespace tessera::train {

// schedule, learning_rate, warmup, min_ratio, decay_steps
void declare(config::Schema& schema, const std::string& prefix, ScheduleOptions& options);
// keep_last, keep_best
void declare(config::Schema& schema, const std::string& prefix, RetentionOptions& options);
// patience, min_delta
void declare(config::Schema& schema, const std::string& prefix, EarlyStopOptions& options);
// divergence_factor, divergence_window, divergence_spikes
void declare(config::Schema& schema, const std::string& prefix, DivergenceOptions& options);

}  // namespace tessera::train
