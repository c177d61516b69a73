#pragma once

#include <string>
#include <vector>

#include "experiment/findings.h"

namespace tessera::experiment {

// Findings as tables of text, for any output format. The first entry of a row is its name.
struct TextTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

TextTable result_grid(const Findings& findings);    // the table itself
TextTable contest_table(const Findings& findings);  // every test against the base row
TextTable number_table(const Findings& findings);   // every evaluation, with NFE, BP, length ratio

// A command, and what it is for.
struct Listed {
  std::string what, command;
};
std::vector<Listed> command_list(const Findings& findings);

// Jobs that are not done, why, and how they stand.
struct Missing {
  std::string what;
  JobStatus status;
  std::string message;
};
std::vector<Missing> missing_list(const Findings& findings);

// "BLEU|nrefs:1|...", each once. If a metric has more than one, its scores cannot be compared.
std::vector<std::string> signatures_of(const Findings& findings);

// What the marks and the ± mean, in sentences.
std::string reading_help(const Findings& findings);

}  // namespace tessera::experiment
