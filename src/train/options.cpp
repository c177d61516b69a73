#include "train/options.h"

#include "train/declare.h"

namespace tessera::train {
namespace {

void declare_run(config::Schema& schema, RunOptions& options) {
  schema.option("train.out", options.out, "folder of the run; must be new or empty");
  schema.option("train.steps", options.steps, "updates of the whole run").at_least(1).may_change();
  schema.option("train.seed", options.seed, "seed of all random numbers; --seed is its default");
  schema.option("train.init", options.init, "run or model folder whose weights to start from");
  schema.option("train.log_every", options.log_every, "updates between two lines of the log")
      .at_least(1)
      .may_change();
  schema.option("train.save_every", options.save_every, "updates between two checkpoints")
      .at_least(1)
      .may_change();
  schema
      .option("train.validate_every", options.validate_every,
              "updates between two validations; 0: only at the end")
      .at_least(0)
      .may_change();
  schema.option("train.deterministic", options.deterministic,
                "CUDA: equal runs give equal bits; some operations are slower");
}

void declare_learner(config::Schema& schema, LearnerOptions& options) {
  schema.option("train.clip", options.clip, "largest norm of the gradient; 0: not clipped")
      .at_least(0);
  schema.option("train.accumulate", options.accumulate, "batches of an update").range(1, 10000);
  schema
      .option("train.ema", options.ema,
              "share of the moving average of the weights that is kept at an update")
      .range(0, 1);
  schema
      .option("train.graphs", options.graphs,
              "CUDA: record the kernels of every batch shape once and replay them")
      .may_change();
  schema.option("train.beta1", options.adamw.beta1, "AdamW: decay of the mean gradient")
      .range(0, 1);
  schema.option("train.beta2", options.adamw.beta2, "AdamW: decay of the mean squared gradient")
      .range(0, 1);
  schema
      .option("train.eps", options.adamw.eps,
              "AdamW: added to the root of the mean squared gradient")
      .above(0);
  schema.option("train.weight_decay", options.adamw.weight_decay, "AdamW: decoupled decay")
      .at_least(0);
}

}  // namespace

void declare(config::Schema& schema, TrainingOptions& options) {
  declare_run(schema, options.run);
  declare(schema, "train.", options.schedule);
  declare_learner(schema, options.learner);
  declare(schema, "train.", options.retention);
  declare(schema, "train.", options.early_stop);
  declare(schema, "train.", options.divergence);
}

}  // namespace tessera::train
