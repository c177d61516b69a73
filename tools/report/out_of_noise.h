#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/run_record.h"

namespace tessera::report {

// The steps of a sentence as a table (HTML).
std::string steps_table(const Condensation& condensation, const std::string& label);

// How a sentence came out of noise in every run that has a record of it, step by step, as a section
// of a page (HTML); empty if none has.
//   labels  what the runs are called
std::string out_of_noise_section(std::span<const RunRecord> runs,
                                 const std::vector<std::string>& labels);

}  // namespace tessera::report
