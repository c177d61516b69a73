#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiment/contest.h"
#include "experiment/plan.h"
#include "experiment/runner.h"
#include "experiment/table.h"

namespace tessera::experiment {

// A cell of the table for one seed.
struct Measured {
  uint64_t seed = 0;
  const Job* job = nullptr;
  const JobState* state = nullptr;
  std::string command;                        // makes it again
  Json report;                                // of the evaluation; null if there is none
  std::vector<std::optional<double>> values;  // by column of the table

  bool done() const { return state->status == JobStatus::done; }
};

// A number of the table: one column of a cell, over all its seeds.
struct Score {
  size_t seeds = 0;  // that have a value; 0: there is no number
  double mean = 0;
  std::optional<double> deviation;  // sample standard deviation, of two seeds or more
  std::optional<Contest> contest;   // with the base row
};

struct FoundCell {
  const Cell* cell = nullptr;
  std::vector<Measured> measured;  // by seed
  std::vector<Score> scores;       // by column of the table

  JobStatus status() const;  // failed, running or not run if any seed is, else done
};

// A training or a distillation.
struct FoundJob {
  const Job* job = nullptr;
  const JobState* state = nullptr;
  std::string command;
};

// The results of an experiment so far. Points into the table, the plan and the states.
struct Findings {
  const Table* table = nullptr;
  std::vector<FoundCell> cells;  // as in the table
  std::vector<FoundJob> made;    // models and corpora
  std::string command;           // continues it

  const FoundCell* at(const std::string& row, const std::string& column) const;
};

//   globals  options of the program that every command had
Findings find(const Table& table, const Plan& plan, const std::vector<JobState>& states,
              const ResultStore& store, const std::vector<std::string>& globals,
              Contests& contests);
Findings find(const Table&, const Plan&, std::vector<JobState>&&, const ResultStore&,
              const std::vector<std::string>&, Contests&) = delete;

std::string status_text(JobStatus status);  // "not run", "running", "done", "failed"

// "32.30 ± 0.12", with a mark for significance; "failed", "not run", or "–" if the evaluation
// has no such number.
std::string score_text(const FoundCell& cell, size_t column, int64_t decimals);

std::string significance_mark(const Score& score);  // "", "*" for p < 0.05, "**" for p < 0.01

// The table and all about it, in the formats of its files.
std::string markdown_table(const Findings& findings);
Json json_table(const Findings& findings);
std::string html_table(const Findings& findings);

}  // namespace tessera::experiment
