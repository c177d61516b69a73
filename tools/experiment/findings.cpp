#include "experiment/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::experiment {
namespace {

Score score_of(const std::vector<Measured>& measured, size_t column) {
  std::vector<double> values;
  for (const Measured& each : measured)
    if (each.values[column]) values.push_back(*each.values[column]);
  Score score;
  score.seeds = values.size();
  if (values.empty()) return score;
  const auto count = static_cast<double>(values.size());
  score.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2) return score;
  double squares = 0;
  for (const double value : values) squares += (value - score.mean) * (value - score.mean);
  score.deviation = std::sqrt(squares / (count - 1));
  return score;
}

std::string full_command(const std::vector<std::string>& globals, const Job& job) {
  std::vector<std::string> words{"tessera"};
  words.insert(words.end(), globals.begin(), globals.end());
  words.insert(words.end(), job.command.begin(), job.command.end());
  return shell_text(words);
}

std::vector<Evaluated> evaluated(const FoundCell& cell, const ResultStore& store) {
  std::vector<Evaluated> all;
  for (const Measured& each : cell.measured)
    if (each.done())
      all.push_back({each.state->result.value("key", each.job->key), each.seed, &each.report,
                     store.hypotheses(each.job->name), each.job->corpus});
  return all;
}

}  // namespace

JobStatus FoundCell::status() const {
  for (const JobStatus status : {JobStatus::failed, JobStatus::running, JobStatus::not_run})
    for (const Measured& each : measured)
      if (each.state->status == status) return status;
  return JobStatus::done;
}

const FoundCell* Findings::at(const std::string& row, const std::string& column) const {
  const auto found = std::find_if(cells.begin(), cells.end(), [&](const FoundCell& cell) {
    return cell.cell->row == row && cell.cell->column == column;
  });
  return found == cells.end() ? nullptr : &*found;
}

Findings find(const Table& table, const Plan& plan, const std::vector<JobState>& states,
              const ResultStore& store, const std::vector<std::string>& globals,
              Contests& contests) {
  Findings findings;
  findings.table = &table;
  for (size_t k = 0; k < table.cells.size(); ++k) {
    FoundCell& cell = findings.cells.emplace_back();
    cell.cell = &table.cells[k];
    for (const size_t number : plan.cells[k]) {
      Measured& measured = cell.measured.emplace_back();
      measured.job = &plan.jobs[number];
      measured.state = &states[number];
      measured.seed = measured.job->seed;
      // The command that was run, if it was; folders may have moved since.
      measured.command = measured.state->result.is_object()
                             ? measured.state->result.value("command", "")
                             : full_command(globals, *measured.job);
      if (measured.done())
        measured.report =
            measured.state->result.value("evaluation", nlohmann::ordered_json::object());
      for (const Column& column : table.columns)
        measured.values.push_back(measured.done() ? value_of(measured.report, column.key)
                                                  : std::nullopt);
    }
    for (size_t column = 0; column < table.columns.size(); ++column)
      cell.scores.push_back(score_of(cell.measured, column));
  }
  for (size_t number = 0; number < plan.jobs.size(); ++number)
    if (const Job& job = plan.jobs[number]; job.kind != JobKind::evaluation)
      findings.made.push_back({&job, &states[number], full_command(globals, job)});
  if (table.base.empty()) return findings;
  for (FoundCell& cell : findings.cells) {
    const FoundCell* base = findings.at(table.base, cell.cell->column);
    if (!base || base == &cell) continue;
    for (size_t column = 0; column < table.columns.size(); ++column)
      cell.scores[column].contest =
          contests.find(table.columns[column].key, evaluated(*base, store), evaluated(cell, store));
  }
  return findings;
}

std::string status_text(JobStatus status) {
  switch (status) {
    case JobStatus::not_run:
      return "not run";
    case JobStatus::running:
      return "running";
    case JobStatus::done:
      return "done";
    case JobStatus::failed:
      return "failed";
  }
  return "";
}

std::string significance_mark(const Score& score) {
  if (!score.contest) return "";
  return score.contest->p_value < 0.01 ? "**" : score.contest->p_value < 0.05 ? "*" : "";
}

std::string score_text(const FoundCell& cell, size_t column, int64_t decimals) {
  const Score& score = cell.scores[column];
  const JobStatus status = cell.status();
  if (score.seeds == 0) return status == JobStatus::done ? "–" : status_text(status);
  std::string text = fmt::format("{:.{}f}", score.mean, decimals);
  if (score.deviation) text += fmt::format(" ± {:.{}f}", *score.deviation, decimals);
  text += significance_mark(score);
  // Says how many seeds are missing, because a mean of fewer seeds is another number.
  if (score.seeds < cell.measured.size())
    text += fmt::format(" ({} of {} seeds{})", score.seeds, cell.measured.size(),
                        status == JobStatus::failed ? ", failed" : "");
  return text;
}

}  // namespace tessera::experiment
