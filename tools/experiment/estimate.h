#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/plan.h"
#include "experiment/runner.h"

namespace tessera::experiment {

// What a training would cost, measured by `tessera train --dry-run` on this machine.
struct Estimate {
  std::string model;
  std::optional<double> hours;  // left for all its runs; none: it could not be tried
  double updates_per_second = 0;
  size_t runs = 0;      // that are not done
  std::string problem;  // why it could not be tried
};

// One for every model with selected trainings that are not done. Tries some updates of each, one
// after the other; leaves nothing behind. Validation is not counted. Throws Stopped when `stop` is
// requested.
std::vector<Estimate> estimate(const Table& table, const Plan& plan,
                               const std::vector<JobState>& states,
                               const std::vector<bool>& selected, const RunnerOptions& options,
                               const std::stop_token& stop);

}  // namespace tessera::experiment
