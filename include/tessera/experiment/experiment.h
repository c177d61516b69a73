#pragma once

#include <tessera/base/api.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace tessera {

// A table of results to make; docs/experiments.md says what its file may hold.
struct ExperimentRequest {
  std::filesystem::path table;    // recipes/tables/table1-multi30k.toml
  std::filesystem::path out;      // folder for runs, results and the table; finished work is kept
  std::filesystem::path program;  // the program `tessera`: every training is a process of its own
  std::map<std::string, std::filesystem::path> data = {};  // corpora of the table, by name
  std::map<std::string, std::string> set = {};             // values of its [set], by name
  std::vector<std::string> only = {};     // rows or models, with what they need; empty: all
  std::vector<std::string> flags = {};    // of the program, for every process: "--threads", "2"
  int jobs = 1;                           // processes at once
  std::vector<std::string> devices = {};  // dealt out to the processes: "cuda:0", "cuda:1"
  uint64_t seed = 1;                      // of the tests of significance
  std::string command = {};               // that continues the experiment, for its page
  std::stop_token stop = {};
};

struct ExperimentResult {
  bool stopped = false;          // on request; the rest is empty then
  std::string markdown, json;    // the table
  std::filesystem::path page;    // the table as HTML
  int64_t jobs = 0, failed = 0;  // trainings, distillations and evaluations
};

// Trains and measures what is not done yet, and writes the table. If a job fails, the others still
// run, and the table says why it failed. Throws Error for a bad table or folder, and if another
// experiment works in the folder.
TESSERA_API ExperimentResult run_experiment(const ExperimentRequest& request);

}  // namespace tessera
