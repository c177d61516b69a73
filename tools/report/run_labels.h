#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/run_record.h"

namespace tessera::report {

// A setting that is not the same in all runs, and its value in each.
struct Difference {
  std::string key;
  std::vector<std::string> values;
};

// The folders of the runs do not count as a difference.
std::vector<Difference> differences(std::span<const RunRecord> runs);

// How the runs are called: by the one setting in which all differ ("r = 0"), else by the names of
// their folders, or by their paths if names are equal.
std::vector<std::string> run_labels(std::span<const RunRecord> runs);

}  // namespace tessera::report
