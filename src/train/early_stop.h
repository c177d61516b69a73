#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::train {

struct EarlyStopOptions {
  int64_t patience = 0;    // validations without a better score before a run stops; 0: never
  double min_delta = 0.0;  // by how much a score must be higher to be better
};

// Stops a run that no longer gets better.
class EarlyStop {
 public:
  explicit EarlyStop(const EarlyStopOptions& options = {});

  // Takes the score of a validation after `step` updates, higher is better (one that is not finite
  // counts as bad). Returns why the run should stop, if it should.
  std::optional<std::string> add(int64_t step, double score);

  // Why the run should stop: what add() last returned.
  std::optional<std::string> reason() const;

  std::optional<double> best_score() const { return best_score_; }
  int64_t best_step() const { return best_step_; }
  int64_t without_gain() const { return without_gain_; }  // validations since the best

  // What add() has gathered, for checkpoints. After restore() it goes on with the very same
  // results.
  nlohmann::json state() const;
  void restore(const nlohmann::json& state);  // throws Error for what state() did not make

 private:
  EarlyStopOptions options_;
  std::optional<double> best_score_;
  int64_t best_step_ = 0;
  int64_t without_gain_ = 0;
};

}  // namespace tessera::train
