#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Experiments: a table of results from a file that says which models to train and how to measure
// them. table.h has the contents of the file, plan.h the jobs for it; runner.h runs them, and
// findings.h has the results.
namespace tessera::experiment {

// A number that a table shows for every evaluation.
struct Column {
  std::string key;    // a metric (columns.h), or a path in the JSON of `tessera evaluate`
  std::string title;  // at the head of the column
  int64_t decimals = 2;
};

// A prepared corpus.
struct Data {
  std::string name;
  std::filesystem::path folder;  // empty: must be given when the experiment is run
  std::string where;             // "file:line", for messages
};

// A corpus whose training targets are generated from its sources by a model of the table.
struct Distilled {
  std::string name;
  std::string teacher;  // a model; if it has several seeds, the first
  std::string of;       // a corpus
  int64_t beam = 5;
  std::string where;
};

// A training, once for every seed.
struct Model {
  std::string name;
  std::vector<std::filesystem::path> recipes;  // laid over each other, from left to right
  std::string data;                            // a corpus; empty: the recipe makes its own
  std::vector<uint64_t> seeds;
  std::vector<std::string> overrides;  // key=value
  std::string where;
};

// An evaluation, once for every seed of its model.
struct Cell {
  std::string row, column;
  std::string model;
  std::vector<std::string> evaluate;  // options of `tessera evaluate`; @NAME is a model's run
  std::string where;
  std::string series;  // its row, column and swept keys, without swept options
  std::vector<std::pair<std::string, std::string>> swept;  // names and values: candidates, 7x3
};

// Asks for the best settings at every cost: those points of a series for which no other is better
// without costing more.
struct Front {
  Column cost;                  // a number of every evaluation, above 0
  std::string score;            // the key of a column of the table
  bool lowest_is_best = false;  // of the score
  std::vector<double> budgets;  // costs within which to name the best
  std::string where;
};

// A file like recipes/tables/*.toml; docs/experiments.md says what may stand in it.
struct Table {
  std::filesystem::path file;
  std::string title, note;
  std::string base;  // the row the others are tested against; empty: none
  std::vector<Column> columns;
  std::vector<Data> data;
  std::vector<Distilled> distilled;
  std::vector<Model> models;
  std::vector<Cell> cells;  // sweeps are spread out: one for each value
  std::optional<Front> front;

  std::string name() const { return file.stem().string(); }  // name of the files written about it
  const Model* find_model(const std::string& name) const;
  const Data* find_data(const std::string& name) const;
  const Distilled* find_distilled(const std::string& name) const;
  // Without repetition, in the order of the cells.
  std::vector<std::string> rows() const;
  std::vector<std::string> column_groups() const;  // {""} if no cell names a column
};

// Throws UsageError that lists every problem of the file, one a line, with file and line.
//   set  values that replace those of the file's own [set], by name
Table read_table(const std::filesystem::path& file,
                 const std::map<std::string, std::string>& set = {});

// Problems of a table as a whole: unknown names, several cells in one place, corpora distilled by
// models that are trained on them.
std::vector<std::string> problems_of(const Table& table);

// The model whose run an option of `tessera evaluate` names: "@ar" and "model=@ar" name "ar". Empty
// if it names none.
std::string named_model(const std::string& option);

}  // namespace tessera::experiment
