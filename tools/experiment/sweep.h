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

  bool trains() const { return !option.starts_with('-'); }  // a model for each value
};

struct SweptCell {
  Cell cell;
  std::vector<Sweep> sweeps;      // at most two: rows and columns, or columns alone
  std::optional<double> at_most;  // the product of swept numbers; what has more is left out
};

// One cell for each value: the last swept option makes columns, one before it rows.
//   models  those of the table, to which the ones that swept keys ask for are added
std::vector<Cell> spread_out(const SweptCell& swept, std::vector<Model>& models);

}  // namespace tessera::experiment
