#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiment/findings.h"

namespace tessera::experiment {
namespace {

using Row = std::vector<std::string>;

std::string cell_text(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  return safe;
}

std::string line_of(const Row& row) {
  Row safe;
  for (const std::string& text : row) safe.push_back(cell_text(text));
  return fmt::format("| {} |\n", fmt::join(safe, " | "));
}

std::string table_of(const Row& head, const std::vector<Row>& rows) {
  std::string text = line_of(head) + line_of(Row(head.size(), "---"));
  for (const Row& row : rows) text += line_of(row);
  return text;
}

std::string grid(const Findings& findings) {
  const Table& table = *findings.table;
  Row head{table.columns.size() == 1 ? table.columns.front().title : ""};
  for (const std::string& group : table.column_groups())
    for (const Column& column : table.columns) head.push_back(heading(table, group, column));
  std::vector<Row> rows;
  for (const std::string& name : table.rows()) {
    Row& row = rows.emplace_back(Row{name});
    for (const std::string& group : table.column_groups())
      for (size_t k = 0; k < table.columns.size(); ++k) {
        const FoundCell* cell = findings.at(name, group);
        row.push_back(cell ? score_text(*cell, k, table.columns[k].decimals) : "");
      }
  }
  return table_of(head, rows);
}

std::string contests(const Findings& findings) {
  const Table& table = *findings.table;
  std::vector<Row> rows;
  for (const FoundCell& cell : findings.cells)
    for (size_t k = 0; k < table.columns.size(); ++k)
      if (const auto& contest = cell.scores[k].contest)
        rows.push_back({cell.cell->row, cell.cell->column, table.columns[k].title,
                        fmt::format("{:+.{}f}", contest->difference, table.columns[k].decimals),
                        fmt::format("{:.4f}", contest->p_value),
                        fmt::format("{}", fmt::join(contest->seeds, ", ")),
                        fmt::format("{}", contest->lines), contest->signature});
  if (rows.empty()) return "";
  return fmt::format("\n## Against “{}”\n", table.base) +
         table_of({"row", "column", "metric", "difference", "p", "seeds", "lines", "signature"},
                  rows);
}

std::string numbers(const Findings& findings) {
  const Table& table = *findings.table;
  std::vector<Row> rows;
  std::string commands;
  for (const FoundCell& cell : findings.cells)
    for (const Measured& measured : cell.measured) {
      if (!measured.done()) continue;
      Row row{cell.cell->row, cell.cell->column, fmt::format("{}", measured.seed)};
      for (size_t k = 0; k < table.columns.size(); ++k)
        row.push_back(measured.values[k]
                          ? fmt::format("{:.{}f}", *measured.values[k], table.columns[k].decimals)
                          : "–");
      std::vector<std::string> details;
      for (const Detail& detail : details_of(measured))
        details.push_back(detail.name + " " + detail.value);
      row.push_back(fmt::format("{}", fmt::join(details, ", ")));
      row.push_back("`" + measured.command + "`");
      rows.push_back(row);
    }
  if (rows.empty()) return "";
  Row head{"row", "column", "seed"};
  for (const Column& column : table.columns) head.push_back(column.title);
  head.insert(head.end(), {"", "command"});
  std::string text = "\n## Every number\n" + table_of(head, rows);
  if (const auto signatures = signatures_of(findings); !signatures.empty()) {
    text += "\nSignatures:\n";
    for (const std::string& signature : signatures) text += "- `" + signature + "`\n";
  }
  return text;
}

std::string made(const Findings& findings) {
  std::vector<Row> rows;
  for (const FoundJob& job : findings.made)
    rows.push_back({job.job->title, status_text(job.state->status), "`" + job.command + "`"});
  return "\n## Models and corpora\n" + table_of({"", "", "command"}, rows);
}

std::string quoted(const std::string& text) {
  std::string lines = "    ";
  for (const char c : text) lines += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return lines + "\n";
}

// What failed, and what was not run.
std::string missing(const Findings& findings) {
  std::string failed, not_run;
  const auto add = [&](const Job& job, const JobState& state) {
    if (state.status == JobStatus::failed)
      failed += fmt::format("- {}\n\n{}\n", job.title, quoted(state.message));
    if (state.status == JobStatus::not_run) not_run += fmt::format("- {}\n", job.title);
    if (state.status == JobStatus::running) not_run += fmt::format("- {} (running)\n", job.title);
  };
  for (const FoundJob& job : findings.made) add(*job.job, *job.state);
  for (const FoundCell& cell : findings.cells)
    for (const Measured& measured : cell.measured) add(*measured.job, *measured.state);
  std::string text;
  if (!failed.empty()) text += "\n## Failed\n" + failed;
  if (!not_run.empty()) text += "\n## Not run\n" + not_run;
  return text;
}

}  // namespace

std::string markdown_table(const Findings& findings) {
  const Table& table = *findings.table;
  std::string text = fmt::format("# {}\n", table.title);
  if (!table.note.empty()) text += table.note + "\n";
  text += "\n" + grid(findings);
  if (const std::string help = reading_help(findings); !help.empty()) text += "\n" + help + "\n";
  text += missing(findings) + contests(findings) + numbers(findings) + made(findings);
  return text + fmt::format("\nMade with `{}`.\n", findings.command);
}

}  // namespace tessera::experiment
