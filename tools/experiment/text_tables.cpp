#include "experiment/text_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tessera::experiment {
namespace {

using Row = std::vector<std::string>;

// The head of a column of numbers: "raw", "raw, BLEU", "BLEU".
std::string heading(const Table& table, const std::string& group, const Column& column) {
  if (group.empty()) return column.title;
  return table.columns.size() == 1 ? group : group + ", " + column.title;
}

std::string place(const Cell& cell) {
  return cell.column.empty() ? cell.row : cell.row + ", " + cell.column;
}

std::string number(const std::optional<double>& value, int64_t decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "–";
}

// "test", "validation": the lines that a cell was measured on.
std::string lines_of(const FoundCell& cell) {
  for (const Measured& measured : cell.measured)
    if (measured.done()) {
      const std::string split = measured.report.value("split", "test");
      return split == "valid" ? "validation" : split;
    }
  return "test";
}

// Whether a group of cells has a number in a column, or may still get one.
bool is_shown(const Findings& findings, const std::string& group, size_t column) {
  if (column == 0) return true;
  bool measured = false;
  for (const FoundCell& cell : findings.cells) {
    if (cell.cell->column != group) continue;
    if (cell.scores[column].seeds > 0) return true;
    measured = measured || std::ranges::any_of(cell.measured, &Measured::done);
  }
  return !measured;
}

}  // namespace

TextTable result_grid(const Findings& findings) {
  const Table& table = *findings.table;
  TextTable grid;
  grid.head.push_back(table.columns.size() == 1 ? table.columns.front().title : "");
  std::vector<std::pair<std::string, size_t>> shown;  // group and column
  for (const std::string& group : table.column_groups())
    for (size_t k = 0; k < table.columns.size(); ++k)
      if (is_shown(findings, group, k)) shown.emplace_back(group, k);
  for (const auto& [group, k] : shown) grid.head.push_back(heading(table, group, table.columns[k]));
  for (const std::string& name : table.rows()) {
    Row& row = grid.rows.emplace_back(Row{name});
    for (const auto& [group, k] : shown) {
      const FoundCell* cell = findings.at(name, group);
      row.push_back(cell ? score_text(*cell, k, table.columns[k].decimals) : "");
    }
  }
  return grid;
}

TextTable contest_table(const Findings& findings) {
  const Table& table = *findings.table;
  TextTable contests{{"", "metric", "difference", "p", "seeds", "lines"}, {}};
  for (const FoundCell& cell : findings.cells)
    for (size_t k = 0; k < table.columns.size(); ++k)
      if (const auto& contest = cell.scores[k].contest)
        contests.rows.push_back(
            {place(*cell.cell), table.columns[k].title,
             fmt::format("{:+.{}f}", contest->difference, table.columns[k].decimals),
             fmt::format("{:.4f}", contest->p_value),
             fmt::format("{}", fmt::join(contest->seeds, ", ")),
             fmt::format("{}", contest->lines)});
  return contests;
}

TextTable number_table(const Findings& findings) {
  const Table& table = *findings.table;
  TextTable numbers{{"", "seed"}, {}};
  std::vector<Column> wanted{
      {"nfe", "NFE", 0}, {"bleu.brevity_penalty", "BP", 3}, {"bleu.ratio", "length ratio", 3}};
  if (table.front) wanted.insert(wanted.begin(), table.front->cost);
  std::vector<Column> more;  // besides those of the table
  for (const Column& each : wanted)
    if (std::none_of(table.columns.begin(), table.columns.end(),
                     [&](const Column& column) { return column.key == each.key; }))
      more.push_back(each);
  for (const Column& column : table.columns) numbers.head.push_back(column.title);
  for (const Column& each : more) numbers.head.push_back(each.title);
  for (const FoundCell& cell : findings.cells)
    for (const Measured& measured : cell.measured) {
      if (!measured.done()) continue;
      Row& row =
          numbers.rows.emplace_back(Row{place(*cell.cell), fmt::format("{}", measured.seed)});
      for (size_t k = 0; k < table.columns.size(); ++k)
        row.push_back(number(measured.values[k], table.columns[k].decimals));
      for (const Column& each : more)
        row.push_back(number(value_of(measured.report, each.key), each.decimals));
    }
  return numbers;
}

std::vector<Listed> command_list(const Findings& findings) {
  std::vector<Listed> all;
  for (const FoundJob& job : findings.made)
    all.push_back({job.job->title + ": " + status_text(job.state->status), job.command});
  for (const FoundCell& cell : findings.cells)
    for (const Measured& measured : cell.measured)
      all.push_back({fmt::format("{}, seed {}: {}", place(*cell.cell), measured.seed,
                                 status_text(measured.state->status)),
                     measured.command});
  return all;
}

std::vector<Missing> missing_list(const Findings& findings) {
  std::vector<Missing> all;
  const auto add = [&](const std::string& what, const JobState& state) {
    if (state.status != JobStatus::done) all.push_back({what, state.status, state.message});
  };
  for (const FoundJob& job : findings.made) add(job.job->title, *job.state);
  for (const FoundCell& cell : findings.cells)
    for (const Measured& measured : cell.measured)
      add(fmt::format("{}, seed {}", place(*cell.cell), measured.seed), *measured.state);
  return all;
}

std::vector<std::string> signatures_of(const Findings& findings) {
  std::vector<std::string> all;
  for (const FoundCell& cell : findings.cells)
    for (const Measured& measured : cell.measured)
      for (const Column& column : findings.table->columns) {
        const Json* metric = measured.done() ? metric_of(measured.report, column.key) : nullptr;
        if (!metric) continue;
        const std::string text =
            fmt::format("{}|{}", metric->value("name", ""), metric->value("signature", ""));
        if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
      }
  return all;
}

std::string reading_help(const Findings& findings) {
  const Table& table = *findings.table;
  std::string text;
  if (std::any_of(table.models.begin(), table.models.end(),
                  [](const Model& model) { return model.seeds.size() > 1; }))
    text +=
        "If a model was trained with several seeds: mean ± sample standard deviation over the "
        "seeds.";
  const Contest* contest = nullptr;
  std::string split;
  for (const FoundCell& cell : findings.cells)
    for (const Score& score : cell.scores)
      if (score.contest) {
        contest = &*score.contest;
        split = lines_of(cell);
      }
  if (contest)
    text += fmt::format(
        "{}* p < 0.05, ** p < 0.01 against the row “{}” of the same column: paired bootstrap over "
        "the {} lines; a line is drawn together with the outputs of all seeds that both rows have "
        "({} samples, seed {}). It accounts for chance in the choice of lines, not in training.",
        text.empty() ? "" : " ", table.base, split, contest->drawn.samples, contest->drawn.seed);
  return text;
}

}  // namespace tessera::experiment
