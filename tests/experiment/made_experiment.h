#pragma once

#include "corpus/corpus_writer.h"
#include "corpus/date_pairs.h"
#include "experiment/findings.h"
#include "experiment/plan.h"
#include "experiment/runner.h"
#include "files/files.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stop_token>
#include <string>

namespace tessera::test {

// Writes a program that stands in for tessera and answers at once. It trains by making a folder,
// evaluates by printing fixed scores, and lists its calls in a file. `behaviour` is shell code that
// runs first, with the sub-command in $1.
inline void write_program(const std::filesystem::path& path, const std::string& behaviour = "") {
  write_file_atomically(path, R"(#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/calls"
[ "$1" = --device ] && shift 2
)" + behaviour + R"(
for word in "$@"; do
  case "$word" in train.out=*) run=${word#train.out=};; esac
  [ "$last" = --out ] && out=$word
  [ "$last" = --resume ] && run=$word
  last=$word
done
case "$1" in
  train) mkdir -p "$run/checkpoints/step-1" && echo "" > "$run/config.toml"
    echo "" > "$run/checkpoints/step-1/config.json"
    echo "" > "$run/checkpoints/step-1/model.safetensors";;
  distill) mkdir -p "$out";;
  evaluate) printf 'a b c d e\nf g h i j\n' > "$out"
    echo '{"split":"test","sentences":2,"exact_match":50,"nfe":20,"metrics":[{"name":"BLEU","score":30.5,"signature":"nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:x","brevity_penalty":0.9,"ratio":0.95}]}';;
esac
)");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

// An experiment in a folder, run with that program.
class MadeExperiment : public testing::Test {
 protected:
  // Not in memory: not every system allows programs to be run from there.
  MadeExperiment() : store_(folder_ / "out") {
    write_file_atomically(folder_ / "r.toml", "[data]\ntask = \"dates\"\n");
    write_program(folder_ / "program");
  }

  void read(const std::string& text) {
    write_file_atomically(folder_ / "t.toml", text);
    table_ = experiment::read_table(folder_ / "t.toml");
    plan_ = experiment::make_plan(table_, store_, data_);
  }

  std::vector<experiment::JobState> run(int jobs = 1, const std::vector<std::string>& only = {}) {
    store_.make_folders();
    const std::stop_token stop = stop_.get_token();
    const FolderLock lock = experiment::lock_store(store_, stop);
    experiment::Runner runner(
        plan_, store_,
        {.program = folder_ / "program", .globals = {}, .jobs = jobs, .devices = devices_},
        [&](const std::vector<experiment::JobState>&) { ++changes_; });
    return runner.run(experiment::selected_jobs(table_, plan_, only), lock, stop);
  }

  experiment::Findings found(const std::vector<experiment::JobState>& states) {
    return experiment::find(table_, plan_, states, store_, {}, contests_);
  }

  // The calls of the program so far, one per line.
  std::vector<std::string> calls() const {
    std::vector<std::string> lines;
    std::ifstream file(folder_ / "calls");
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  TemporaryFolder folder_;
  experiment::ResultStore store_;
  std::map<std::string, std::filesystem::path> data_;
  experiment::Table table_;
  experiment::Plan plan_;
  experiment::Contests contests_{{.samples = 100}};
  std::vector<std::string> devices_;
  int changes_ = 0;
  std::stop_source stop_;
};

}  // namespace tessera::test
