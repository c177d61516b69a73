#pragma once

#include <tessera/base/api.h>
#include <tessera/task/training_cost.h>
#include <tessera/task/training_request.h>
#include <tessera/task/training_result.h>
#include <tessera/train/training_progress.h>

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

namespace tessera {

// Trains a model in a folder of its own, which the recipe names (train.out).
//   tessera::Training training({.recipe = "recipes/tiny.toml", .overrides =
//   {"train.out=runs/tiny"}}); const tessera::TrainingResult result = training.run(); const
//   tessera::Translator translator(result.run);
// A run that was stopped, or whose process died, goes on with {.resume = "runs/tiny"}.
class TESSERA_API Training {
 public:
  // Reads the recipe, or the configuration of the run; nothing is written yet. Throws UsageError
  // that lists all that is wrong with it.
  explicit Training(TrainingRequest request);
  ~Training();
  Training(Training&&) noexcept;
  Training& operator=(Training&&) noexcept;

  std::string config() const;  // the configuration in effect, as TOML

  // Whether equal runs are to give equal bits on CUDA (train.deterministic). LibTorch demands
  // CUBLAS_WORKSPACE_CONFIG=:4096:8 in the environment for that, from before CUDA is first used.
  bool deterministic() const;

  // Makes some updates and says what the training would take. Leaves nothing behind.
  //   trace  file for a profile of an update (chrome://tracing); empty: none
  TrainingCost estimate(const std::filesystem::path& trace = {}) const;

  // Trains until all updates are made, early stopping ends the run, or `stop` asks for it: then it
  // saves, and says so. Throws Error where the run cannot begin or diverges; the checkpoints there
  // are stay.
  //   on_progress  called in this thread
  TrainingResult run(const std::stop_token& stop = {},
                     const OnTrainingProgress& on_progress = {}) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace tessera
