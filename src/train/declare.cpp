#include "train/declare.h"

namespace tessera::train {

void declare(config::Schema& schema, const std::string& prefix, ScheduleOptions& options) {
  schema.option(prefix + "schedule", options.kind, "course of the learning rate after the warm-up");
  schema.option(prefix + "learning_rate", options.learning_rate, "the highest learning rate")
      .at_least(0);
  schema
      .option(prefix + "warmup", options.warmup,
              "updates over which the learning rate rises to its highest")
      .at_least(0);
  schema
      .option(prefix + "min_ratio", options.min_ratio,
              "for cosine and linear: the final learning rate, as a fraction of the highest")
      .range(0, 1);
  schema
      .option(prefix + "decay_steps", options.decay_steps,
              "for cosine and linear: updates until the final learning rate; 0: all of the run")
      .at_least(0);
}

void declare(config::Schema& schema, const std::string& prefix, RetentionOptions& options) {
  schema.option(prefix + "keep_last", options.keep_last, "newest checkpoints that stay on disk")
      .at_least(1)
      .may_change();
  schema
      .option(prefix + "keep_best", options.keep_best,
              "checkpoints with the best validation scores that stay beside them")
      .at_least(0)
      .may_change();
}

void declare(config::Schema& schema, const std::string& prefix, EarlyStopOptions& options) {
  schema
      .option(prefix + "patience", options.patience,
              "stop after this many validations without a better score; 0: never")
      .at_least(0)
      .may_change();
  schema
      .option(prefix + "min_delta", options.min_delta,
              "by how much a score must be better than the best before to count")
      .at_least(0)
      .may_change();
}

void declare(config::Schema& schema, const std::string& prefix, DivergenceOptions& options) {
  schema
      .option(prefix + "divergence_factor", options.factor,
              "a loss above this many times the recent median is a spike; 0: never")
      .check([](double factor) { return factor == 0 || factor > 1; }, "0 or above 1")
      .may_change();
  schema
      .option(prefix + "divergence_window", options.window,
              "number of recent losses that the median is taken of")
      .range(1, 1000000)
      .may_change();
  schema
      .option(prefix + "divergence_spikes", options.spikes,
              "spikes in a row that stop the run (a loss that is not a number stops it at once)")
      .at_least(1)
      .may_change();
}

}  // namespace tessera::train
