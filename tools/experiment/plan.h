#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/result_store.h"
#include "experiment/table.h"

namespace tessera::experiment {

enum class JobKind { training, distillation, evaluation };

// A command of the program that must be run once.
struct Job {
  JobKind kind = JobKind::training;
  std::string title;  // for people: "train ot, seed 1"
  std::string name;   // of its files (result_store.h), with the beginning of the key
  std::string key;    // hash of all that it depends on, except the weights of finished runs
  std::vector<std::string> command;  // sub-command and arguments
  std::vector<std::string> resume;   // the same for a training that has been begun
  std::vector<size_t> needs;         // jobs that come before it
  std::string model;                 // the model that is trained or evaluated, or the teacher
  uint64_t seed = 0;
  std::filesystem::path folder;             // that is made: a run or a corpus
  std::filesystem::path corpus;             // that a training or an evaluation reads
  std::vector<std::filesystem::path> runs;  // whose weights an evaluation depends on
};

struct Plan {
  std::vector<Job> jobs;                   // a job comes after those it needs
  std::vector<std::vector<size_t>> cells;  // evaluations of every cell of the table, by seed
};

// What must be done for a table.
//   data  folders of corpora by name, over those of the table
// Reads the recipes and the manifests of corpora. Throws UsageError if recipes, overrides or
// corpora are invalid.
Plan make_plan(const Table& table, const ResultStore& store,
               const std::map<std::string, std::filesystem::path>& data);

// The network whose features an evaluation of images compares; nothing for other jobs.
std::optional<std::filesystem::path> extractor_of(const Job& job);

// The key under which the result of a job is stored: the key of the job, and for an evaluation the
// weights of the runs it depends on, which must be finished, and its extractor, which must exist.
std::string result_key(const Job& job);

// Which jobs are needed for the cells of some rows or models, by number.
//   only  names of rows or models; empty: all. Throws UsageError for names of neither.
std::vector<bool> selected_jobs(const Table& table, const Plan& plan,
                                const std::vector<std::string>& only);

}  // namespace tessera::experiment
