#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/table.h"

namespace tessera::experiment {

// An option of `tessera evaluate` ("--steps") or a key of the recipe ("process.r") that takes
// several values, one after the other.
struct Sweep {
  std::string option;
  std::vector<std::string> values;

  bool trains() const { return !option.starts_with('-'); }  // one model for each value
};

struct SweptCell {
  Cell cell;
  std::vector<Sweep> sweeps;      // at most two: rows and columns, or columns alone
  std::optional<double> at_most;  // largest product of swept numbers; cells above it are left out
};

// One cell for each value: the last swept option makes columns, one before it rows.
//   models  those of the table; models for swept keys are added to them
std::vector<Cell> spread_out(const SweptCell& swept, std::vector<Model>& models);

}  // namespace tessera::experiment
