#pragma once

#include "train/checkpoints.h"
#include "train/divergence.h"
#include "train/early_stop.h"
#include "train/learner.h"
#include "train/metrics_log.h"
#include "train/options.h"
#include "train/run_folder.h"
#include "train/task.h"

#include <tessera/train/training_progress.h>

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <stop_token>

namespace tessera::train {

// The position of a run. Together with the learner's state, the rest of the run depends on it
// alone.
struct Position {
  int64_t step = 0;   // updates made
  int64_t epoch = 0;  // of the next batch
  int64_t batch = 0;
  bool validation_due = false;  // after the last update, and not made yet
};

// How a training ended.
struct TrainingEnd {
  bool stopped = false;  // as requested, after saving; else the run is complete
  double seconds = 0;    // how long it took; 0: nothing was left to do
};

// A training run: takes batches, makes updates, logs, validates, saves. The processes of a group do
// it together; the first of them reads checkpoints and writes.
class Trainer {
 public:
  // Task and group must outlive it.
  Trainer(Task& task, const TrainingOptions& options, ranks::Group& group = ranks::alone());

  // Begins at the newest checkpoint of the folder if it has one, else (and for a dry run) at
  // train.init or with new weights. Throws Error if that does not fit the task.
  void begin();
  void begin(const RunFolder& folder);

  // Trains in the folder until all steps are made, early stopping ends it, or `stop` is requested
  // (in any of the processes); then it saves. Throws Error when training diverges; earlier
  // checkpoints stay.
  TrainingEnd run(const RunFolder& folder, const std::stop_token& stop = {},
                  const OnTrainingProgress& on_progress = {});

  int64_t step() const { return position_.step; }  // updates made

  // For a dry run: makes updates and saves nothing. Returns updates per second, the first `warm_up`
  // (graphs are recorded, libraries set themselves up) not counted. On the CPU, where updates of
  // large networks take long, fewer are made than asked for once some seconds have passed.
  double try_updates(int64_t warm_up, int64_t updates);

 private:
  // What a run leaves on disk. Process 0 has them, the others have none.
  struct Records {
    Records(const RunFolder& folder, const RetentionOptions& retention, int64_t step)
        : checkpoints(folder.path(), retention), metrics(folder.metrics(), step) {}

    Checkpoints checkpoints;
    MetricsLog metrics;
  };

  void begin_here();  // what begin() does
  void begin_here(const RunFolder& folder);
  // The position and the state of process 0 for all.
  void share_beginning();
  nlohmann::ordered_json position() const;  // as state.json keeps it
  void set_position(const nlohmann::json& state);
  // Throws Error if the processes have come to different weights.
  void require_equal_weights() const;
  void restore(const std::filesystem::path& checkpoint);
  void save(Records* records, std::optional<double> score);
  Error diverged(const std::string& reason) const;  // with what to do now

  bool is_due(int64_t interval) const;  // for something that is done every `interval` steps
  bool is_complete() const;

  void update();  // makes one update, and advances the position
  // Requests the stop of a training, and receives its progress.
  struct Listener {
    std::stop_token stop;
    OnTrainingProgress on_progress;
  };

  // Follows an update: logs, validates and saves if it is time. Returns whether the training was
  // stopped.
  //   stopping  all processes have agreed to stop
  bool follow_up(Records* records, const Listener& listener, bool stopping, bool keep);
  void log_updates(Records* records, const Listener& listener);
  // Returns the score; none if it was stopped before that was known.
  std::optional<double> validate(Records* records, const std::stop_token& stop);

  Task& task_;
  TrainingOptions options_;
  ranks::Group& group_;
  Learner learner_;
  EarlyStop early_stop_;
  DivergenceWatch divergence_;
  Position position_;
  TrainingProgress told_;  // the last one that was reported
  double logged_at_ = 0;   // time of the last line, in seconds
  double left_out_ = 0;    // updates left out in a row, as far as is known
  bool saved_ = false;     // whether the run has a checkpoint
};

}  // namespace tessera::train
