#pragma once

#include "train/checkpoints.h"
#include "train/divergence.h"
#include "train/early_stop.h"
#include "train/learner.h"
#include "train/metrics_log.h"
#include "train/options.h"
#include "train/run_folder.h"
#include "train/stop_signal.h"
#include "train/task.h"

#include <optional>

namespace tessera::train {

// LibTorch's switches for training, process-wide; to be called before a model is made.
void set_up_device(at::Device device, bool deterministic);

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
  // The task must outlive it.
  Trainer(Task& task, const TrainingOptions& options);

  // Where the run begins: at the newest checkpoint of the folder where it has one, else (and for a
  // dry run) at train.init or with new weights. Throws Error where that does not fit the task.
  void begin();
  void begin(const RunFolder& folder);

  // Trains in the folder until all steps are made or early stopping ends it, and returns how long
  // that took, in seconds: 0 where nothing was left to do. Throws Stopped, after
  // saving, when `stop` is asked for; Error when training diverges, and the checkpoints there were
  // stay.
  double run(const RunFolder& folder, const StopSignal& stop);

  int64_t step() const { return position_.step; }  // updates made

  // For a dry run: makes updates and saves nothing. Returns updates per second, the first `warm_up`
  // (graphs are recorded, libraries set themselves up) not counted. On the CPU, where updates of
  // large networks take long, fewer are made than asked for once some seconds have passed.
  double try_updates(int64_t warm_up, int64_t updates);

 private:
  void restore(const std::filesystem::path& checkpoint);
  void save(Checkpoints& checkpoints, std::optional<double> score);
  Error diverged(const std::string& reason) const;  // with what to do now

  bool is_due(int64_t interval) const;  // something that is done every so many steps
  bool is_complete() const;

  void update();  // one, and the position moves on
  // What comes after an update: logs, validates and saves where it is time, and stops.
  void follow_up(Checkpoints& checkpoints, MetricsLog& metrics, const StopSignal& stop, bool keep);
  void log_updates(MetricsLog& log);
  // Returns the score; none where a signal came before it was known.
  std::optional<double> validate(MetricsLog& log, const StopSignal& stop);

  Task& task_;
  TrainingOptions options_;
  Learner learner_;
  EarlyStop early_stop_;
  DivergenceWatch divergence_;
  Position position_;
  double logged_at_ = 0;  // seconds, of the last line
  double left_out_ = 0;   // updates in a row, as far as is known
  bool saved_ = false;    // whether the run has a checkpoint
};

}  // namespace tessera::train
