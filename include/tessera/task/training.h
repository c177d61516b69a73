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
//   const tessera::Training training({.recipe = "recipes/tiny.toml"});
//   const tessera::TrainingResult result = training.run();
//   const tessera::Translator translator(result.run);
// A run that was stopped, or whose process died, continues with {.resume = "runs/tiny"}.
class TESSERA_API Training {
 public:
  // Reads the recipe, or the configuration of the run; nothing is written yet. Throws UsageError,
  // which lists everything that is wrong with it.
  explicit Training(TrainingRequest request);
  ~Training();
  Training(Training&&) noexcept;
  Training& operator=(Training&&) noexcept;

  std::string config() const;  // the configuration in effect, as TOML

  // Whether equal runs must give equal bits on CUDA (train.deterministic). LibTorch then needs
  // CUBLAS_WORKSPACE_CONFIG=:4096:8 in the environment before CUDA is first used.
  bool deterministic() const;

  // Makes some updates to estimate what the training would take. Leaves nothing behind.
  //   trace  file for a profile of an update (chrome://tracing); empty: none
  TrainingCost estimate(const std::filesystem::path& trace = {}) const;

  // Trains until all updates are made, early stopping ends the run, or `stop` asks it to stop: then
  // it saves, and the result says so. Throws Error if the run cannot begin or diverges; existing
  // checkpoints are kept.
  //   on_progress  called in this thread; what it throws ends the training
  TrainingResult run(const std::stop_token& stop = {},
                     const OnTrainingProgress& on_progress = {}) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace tessera
