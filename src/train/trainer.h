#pragma once

#include "model/seq2seq.h"
#include "text/corpus.h"
#include "train/checkpoints.h"
#include "train/divergence.h"
#include "train/early_stop.h"
#include "train/learner.h"
#include "train/metrics_log.h"
#include "train/options.h"
#include "train/run_folder.h"
#include "train/stop_signal.h"
#include "train/validator.h"

#include <memory>
#include <optional>

namespace tessera::train {

// Where a run stands. With the learner's state, all that the rest of it depends on.
struct Position {
  int64_t step = 0;   // updates made
  int64_t epoch = 0;  // of the batch that comes next
  int64_t batch = 0;
};

// A training run: takes batches, makes updates, logs, validates, saves.
class Trainer {
 public:
  // The corpus must outlive it.
  Trainer(const Recipe& recipe, const text::Corpus& corpus, at::Device device);

  const model::Seq2Seq& model() const { return *model_; }

  // Trains in the folder, from its newest checkpoint where it has one, until all steps are made or
  // early stopping ends it. Throws Stopped, after saving, when `stop` is asked for; Error when the
  // loss diverges, and the checkpoints there were stay.
  void run(const RunFolder& folder, const StopSignal& stop);

  // For a dry run: makes updates and saves nothing. Returns updates per second, the first `warm_up`
  // (graphs are recorded, libraries set themselves up) not counted.
  double try_updates(int64_t warm_up, int64_t updates);

  const text::Batcher& batcher() const { return batcher_; }

 private:
  void start_from(const std::filesystem::path& folder);
  void restore(const std::filesystem::path& checkpoint);
  void save(Checkpoints& checkpoints, std::optional<double> score) const;

  void update();  // one, and the position moves on
  void log_updates(MetricsLog& log);
  double validate(MetricsLog& log);  // returns the score
  double score_of(const Validation& validation) const;

  Recipe recipe_;
  const text::Corpus& corpus_;
  std::unique_ptr<model::Seq2Seq> model_;
  text::Batcher batcher_;
  Learner learner_;
  Validator validator_;
  EarlyStop early_stop_;
  DivergenceWatch divergence_;
  Position position_;
  double logged_at_ = 0;  // seconds, of the last line
};

}  // namespace tessera::train
