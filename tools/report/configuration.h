#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/run_record.h"

namespace tessera::report {

// The settings in which runs differ, and all others, folded away, as a section (HTML).
//   labels  what the runs are called
std::string configuration_section(std::span<const RunRecord> runs,
                                  const std::vector<std::string>& labels);

}  // namespace tessera::report
