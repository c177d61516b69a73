#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/findings.h"

namespace tessera::experiment {

struct TableFilesOptions {
  std::vector<std::string> globals;  // options of the program that every command has
  std::string command;               // continues the experiment
  text_metric::BootstrapOptions bootstrap;
};

// The table of an experiment in the folder of its store, as Markdown, JSON and a page. The table,
// the plan and the store must outlive it.
class TableFiles {
 public:
  TableFiles(const Table& table, const Plan& plan, const ResultStore& store,
             TableFilesOptions options);

  // Writes it anew and returns what it shows. Throws Error. Warns about a column that no evaluation
  // has a value for.
  Findings write(const std::vector<JobState>& states);

  // The same while jobs are still running. A failure to write (a full disk) is reported once.
  void try_to_write(const std::vector<JobState>& states);

  std::filesystem::path path(const std::string& ending) const;  // ".md", ".json", ".html"

 private:
  Findings find_and_write(const std::vector<JobState>& states);

  const Table& table_;
  const Plan& plan_;
  const ResultStore& store_;
  TableFilesOptions options_;
  Contests contests_;
  bool complained_ = false;
};

}  // namespace tessera::experiment
