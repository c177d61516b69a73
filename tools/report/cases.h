#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/run_record.h"

namespace tessera::report {

// What the runs made of the same sentences: source, every run's text, reference. Of an evaluation,
// it shows the first sentences on which the runs differ and a few on which they agree; without one,
// the sentences of the last validation.
struct Cases {
  struct Case {
    std::string source, reference;
    std::vector<std::string> generated;  // one of every run
  };
  std::vector<Case> shown;
  bool evaluated = false;              // else they are of validations
  size_t compared = 0, differing = 0;  // sentences that all runs have
};

Cases choose_cases(std::span<const RunRecord> runs);

// As a section of a page (HTML); empty if there is nothing to show.
//   labels  what the runs are called
std::string cases_section(std::span<const RunRecord> runs, const std::vector<std::string>& labels);

}  // namespace tessera::report
