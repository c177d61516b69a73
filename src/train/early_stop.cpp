#include "train/early_stop.h"

#include "base/require.h"
#include "files/json_file.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace tessera::train {

using nlohmann::json;

EarlyStop::EarlyStop(const EarlyStopOptions& options) : options_(options) {
  require_option(options.patience >= 0, "patience must be at least 0, got {}", options.patience);
  require_option(options.min_delta >= 0, "min_delta must be at least 0, got {}", options.min_delta);
}

std::optional<std::string> EarlyStop::add(int64_t step, double score) {
  if (std::isfinite(score) && (!best_score_ || score > *best_score_ + options_.min_delta)) {
    best_score_ = score;
    best_step_ = step;
    without_gain_ = 0;
    return std::nullopt;
  }
  ++without_gain_;
  return reason();
}

std::optional<std::string> EarlyStop::reason() const {
  if (options_.patience == 0 || without_gain_ < options_.patience) return std::nullopt;
  if (!best_score_) return fmt::format("no finite score in {} validations", without_gain_);
  return fmt::format("no better score in {} validations: {:.2f} at step {} stays the best",
                     without_gain_, *best_score_, best_step_);
}

json EarlyStop::state() const {
  return {{"best_score", best_score_ ? json(*best_score_) : json()},
          {"best_step", best_step_},
          {"without_gain", without_gain_}};
}

void EarlyStop::restore(const json& state) {
  try {
    const json& best = state.at("best_score");
    const auto best_score = best.is_null() ? std::nullopt : std::optional(best.get<double>());
    const auto best_step = state.at("best_step").get<int64_t>();
    without_gain_ = state.at("without_gain").get<int64_t>();
    best_score_ = best_score;
    best_step_ = best_step;
  } catch (const json::exception& error) {
    throw Error(fmt::format("the state of early stopping is broken: {}", json_problem(error)));
  }
}

}  // namespace tessera::train
