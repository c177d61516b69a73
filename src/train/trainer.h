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
  bool validation_due = false;  // after the last update, and not made yet
};

// A training run: takes batches, makes updates, logs, validates, saves.
class Trainer {
 public:
  // The corpus must outlive it.
  Trainer(const Recipe& recipe, const text::Corpus& corpus, at::Device device);

  const model::Seq2Seq& model() const { return *model_; }

  // Where the run begins: at the newest checkpoint of the folder where it has one, else (and for a
  // dry run) at train.init or with new weights. Throws Error where that does not fit the corpus or
  // the model.
  void begin();
  void begin(const RunFolder& folder);

  // Trains in the folder until all steps are made or early stopping ends it. Throws Stopped, after
  // saving, when `stop` is asked for; Error when training diverges, and the checkpoints there were
  // stay.
  void run(const RunFolder& folder, const StopSignal& stop);

  // For a dry run: makes updates and saves nothing. Returns updates per second, the first `warm_up`
  // (graphs are recorded, libraries set themselves up) not counted. On the CPU, where updates of
  // large networks take long, fewer are made than asked for once some seconds have passed.
  double try_updates(int64_t warm_up, int64_t updates);

  const text::Batcher& batcher() const { return batcher_; }

 private:
  void start_from(const std::filesystem::path& folder);
  void restore(const std::filesystem::path& checkpoint);
  void save(Checkpoints& checkpoints, std::optional<double> score) const;

  bool is_due(int64_t interval) const;  // something that is done every so many steps
  bool is_complete() const;

  void update();  // one, and the position moves on
  // What comes after an update: logs, validates and saves where it is time, and stops.
  void follow_up(Checkpoints& checkpoints, MetricsLog& metrics, const StopSignal& stop, bool keep);
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
  double left_out_ = 0;   // updates in a row, as far as is known
};

}  // namespace tessera::train
