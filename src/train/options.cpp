#include "train/options.h"

#include "train/declare.h"

namespace tessera::train {
namespace {

void declare_data(config::Schema& schema, DataOptions& options) {
  schema.option("data.dir", options.dir, "folder that `tessera prepare` wrote");
  schema.option("data.task", options.task,
                "a corpus the program makes itself, instead of data.dir");
  schema.option("data.pairs", options.pairs, "pairs of sentences in a corpus it makes itself")
      .at_least(100);
  text::BatcherOptions& batches = options.batches;
  schema
      .option("data.tokens", batches.tokens,
              "size of a batch: sentences x the longer of padded source and target")
      .at_least(1);
  schema
      .option("data.max_length", batches.max_length,
              "sentences of more symbols are left out of training, end symbol counted")
      .at_least(2);
  schema.option("data.round_to", batches.round_to, "padded lengths are multiples of it")
      .at_least(1);
  schema.option("data.square", batches.square,
                "pad source and target to one length, so that a batch has sentences of every "
                "length ratio");
  schema.option("data.max_buckets", batches.max_buckets, "different shapes of a batch, at most")
      .at_least(1);
}

void declare_run(config::Schema& schema, RunOptions& options) {
  schema.option("train.out", options.out, "folder of the run, made if need be");
  schema.option("train.steps", options.steps, "updates of the whole run").at_least(1);
  schema.option("train.seed", options.seed, "of everything random; --seed is its default");
  schema.option("train.init", options.init, "run or model folder whose weights to start from");
  schema.option("train.log_every", options.log_every, "updates between two lines of the log")
      .at_least(1);
  schema.option("train.save_every", options.save_every, "updates between two checkpoints")
      .at_least(1);
  schema
      .option("train.validate_every", options.validate_every,
              "updates between two validations; 0: only at the end")
      .at_least(0);
  schema
      .option("train.validate_sentences", options.validate_sentences,
              "sentences generated in a validation; 0: only the loss is measured")
      .at_least(0);
  schema.option("train.score", options.score, "what says which checkpoint is the best");
  schema.option("train.deterministic", options.deterministic,
                "CUDA: equal runs give equal bits; some operations are slower");
}

void declare_learner(config::Schema& schema, LearnerOptions& options) {
  schema.option("train.clip", options.clip, "largest norm of the gradient; 0: not clipped")
      .at_least(0);
  schema.option("train.accumulate", options.accumulate, "batches of an update").at_least(1);
  schema.option("train.ema", options.ema, "how much of the averaged weights stays at an update")
      .range(0, 1);
  schema.option("train.graphs", options.graphs,
                "CUDA: record the kernels of every batch shape once and replay them");
  schema.option("train.beta1", options.adamw.beta1, "AdamW: decay of the mean gradient")
      .range(0, 1);
  schema.option("train.beta2", options.adamw.beta2, "AdamW: decay of the mean squared gradient")
      .range(0, 1);
  schema.option("train.eps", options.adamw.eps, "AdamW: added to the root of the latter").above(0);
  schema.option("train.weight_decay", options.adamw.weight_decay, "AdamW: decoupled decay")
      .at_least(0);
}

}  // namespace

void declare(config::Schema& schema, Recipe& recipe) {
  declare_data(schema, recipe.data);
  model::declare(schema, recipe.model);
  declare_run(schema, recipe.run);
  declare(schema, "train.", recipe.schedule);
  declare_learner(schema, recipe.learner);
  declare(schema, "train.", recipe.retention);
  declare(schema, "train.", recipe.early_stop);
  declare(schema, "train.", recipe.divergence);
  model::declare(schema, recipe.generate);
}

std::filesystem::path corpus_folder(const DataOptions& data, const std::filesystem::path& run) {
  return data.task == DataTask::none ? data.dir : run / "data";
}

bool may_change_on_resume(const std::string& key, const ScheduleOptions& schedule) {
  if (key == "train.steps") return !depends_on_total_steps(schedule);
  static const std::set<std::string> free{"data.dir",
                                          "train.out",
                                          "train.log_every",
                                          "train.save_every",
                                          "train.keep_last",
                                          "train.keep_best",
                                          "train.graphs",
                                          "train.validate_every",
                                          "train.validate_sentences",
                                          "train.score",
                                          "train.patience",
                                          "train.min_delta",
                                          "train.divergence_factor",
                                          "train.divergence_window",
                                          "train.divergence_spikes"};
  return free.contains(key) || key.starts_with("generate.") || key.starts_with("sampler.");
}

}  // namespace tessera::train
