#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "drawing/page.h"
#include "drawing/svg.h"
#include "experiment/findings.h"
#include "report/training_charts.h"
#include "tessera/base/error.h"
#include "tessera/version.h"

namespace tessera::experiment {
namespace {

using drawing::escaped;
using drawing::section;
using report::RunRecord;
using report::Series;
using Row = std::vector<std::string>;

// The first cell of a row is its head. Texts are escaped here.
std::string table_of(const Row& head, const std::vector<Row>& rows) {
  std::string html = "<div class=\"scroll\"><table class=\"wide\">\n<thead><tr>";
  for (const std::string& text : head) html += "<th>" + escaped(text) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const Row& row : rows) {
    html += "<tr><th>" + escaped(row.front()) + "</th>";
    for (size_t k = 1; k < row.size(); ++k) html += "<td>" + escaped(row[k]) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

std::string paragraph(const std::string& text) {
  return text.empty() ? "" : "<p>" + escaped(text) + "</p>\n";
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
  return section("Results", table_of(head, rows) + paragraph(reading_help(findings)));
}

std::string place(const Cell& cell) {
  return cell.column.empty() ? cell.row : cell.row + ", " + cell.column;
}

std::string contests(const Findings& findings) {
  const Table& table = *findings.table;
  std::vector<Row> rows;
  for (const FoundCell& cell : findings.cells)
    for (size_t k = 0; k < table.columns.size(); ++k)
      if (const auto& contest = cell.scores[k].contest)
        rows.push_back({place(*cell.cell), table.columns[k].title,
                        fmt::format("{:+.{}f}", contest->difference, table.columns[k].decimals),
                        fmt::format("{:.4f}", contest->p_value),
                        fmt::format("{}", fmt::join(contest->seeds, ", ")),
                        fmt::format("{}", contest->lines)});
  if (rows.empty()) return "";
  return section("Against “" + escaped(table.base) + "”",
                 table_of({"", "metric", "difference", "p", "seeds", "lines"}, rows));
}

// Runs that have measured something, one colour a model.
struct Learning {
  std::vector<RunRecord> runs;
  std::vector<size_t> colours;
  std::vector<std::string> models;
};

Learning learning_of(const Findings& findings) {
  Learning learning;
  for (const FoundJob& job : findings.made) {
    if (job.job->kind != JobKind::training) continue;
    try {
      learning.runs.push_back(report::read_run(job.job->folder));
    } catch (const Error&) {  // not begun, or nothing logged yet
      continue;
    }
    auto& models = learning.models;
    const auto found = std::find(models.begin(), models.end(), job.job->model);
    learning.colours.push_back(static_cast<size_t>(found - models.begin()));
    if (found == models.end()) models.push_back(job.job->model);
  }
  return learning;
}

template <class Choose>
drawing::Panel panel_of(const Learning& learning, const std::string& caption,
                        const std::string& y_title, double top, bool points, Choose choose) {
  std::vector<const Series*> series;
  for (const RunRecord& run : learning.runs) series.push_back(&choose(run));
  return report::curve_panel({.caption = caption,
                              .y_title = y_title,
                              .runs = series,
                              .top = top,
                              .points = points,
                              .colours = learning.colours});
}

std::string learning_section(const Findings& findings) {
  const Learning learning = learning_of(findings);
  if (learning.runs.empty()) return "";
  const bool exact = learning.runs.front().scored_by_exact_match();
  drawing::Figure figure;
  if (std::any_of(learning.runs.begin(), learning.runs.end(),
                  [](const RunRecord& run) { return !run.score().empty(); }))
    figure.panels.push_back(panel_of(
        learning, "Score in validation", exact ? "exact match, percent" : "BLEU", exact ? 100 : 0,
        true, [](const RunRecord& run) -> const Series& { return run.score(); }));
  figure.panels.push_back(panel_of(learning, "Loss in training", "loss of a symbol", 0, false,
                                   [](const RunRecord& run) -> const Series& { return run.loss; }));
  return section(
      "Learning curves",
      report::legend(learning.models) +
          drawing::captioned(drawing::panels(figure, 2, 1, "charts"),
                             "Runs of one model with different seeds have one colour. Losses of "
                             "different models answer different questions: they say little across "
                             "models."));
}

std::string numbers(const Findings& findings) {
  const Table& table = *findings.table;
  std::vector<Row> rows;
  Row head{"", "seed"};
  for (const Column& column : table.columns) head.push_back(column.title);
  for (const FoundCell& cell : findings.cells)
    for (const Measured& measured : cell.measured) {
      if (!measured.done()) continue;
      Row& row = rows.emplace_back(Row{place(*cell.cell), fmt::format("{}", measured.seed)});
      for (size_t k = 0; k < table.columns.size(); ++k)
        row.push_back(measured.values[k]
                          ? fmt::format("{:.{}f}", *measured.values[k], table.columns[k].decimals)
                          : "–");
      std::vector<std::string> details;
      for (const Detail& detail : details_of(measured))
        details.push_back(detail.name + " " + detail.value);
      row.push_back(fmt::format("{}", fmt::join(details, ", ")));
    }
  if (rows.empty()) return "";
  head.emplace_back("");
  std::string html = table_of(head, rows) + "<div class=\"listing\">\n";
  for (const std::string& signature : signatures_of(findings))
    html += "<p><code>" + escaped(signature) + "</code></p>\n";
  return section("Every number", html + "</div>\n");
}

std::string listing(const std::string& title, const std::string& text) {
  return fmt::format("<p>{}<br><code>{}</code></p>\n", escaped(title), escaped(text));
}

std::string commands(const Findings& findings) {
  std::string html = "<div class=\"listing\">\n";
  for (const FoundJob& job : findings.made)
    html += listing(job.job->title + ": " + status_text(job.state->status), job.command);
  for (const FoundCell& cell : findings.cells)
    for (const Measured& measured : cell.measured)
      html += listing(fmt::format("{}, seed {}: {}", place(*cell.cell), measured.seed,
                                  status_text(measured.state->status)),
                      measured.command);
  return section("Commands", html + "</div>\n");
}

std::string missing(const Findings& findings) {
  std::string html;
  const auto add = [&](const Job& job, const JobState& state) {
    if (state.status == JobStatus::done) return;
    html += fmt::format("<p>{}: {}</p>\n", escaped(job.title), status_text(state.status));
    if (!state.message.empty()) html += "<pre><code>" + escaped(state.message) + "</code></pre>\n";
  };
  for (const FoundJob& job : findings.made) add(*job.job, *job.state);
  for (const FoundCell& cell : findings.cells)
    for (const Measured& measured : cell.measured) add(*measured.job, *measured.state);
  if (html.empty()) return "";
  return section("Failed or not run", "<div class=\"listing\">\n" + html + "</div>\n");
}

}  // namespace

std::string html_table(const Findings& findings) {
  const Table& table = *findings.table;
  return drawing::page(
      {.title = "Tessera: " + table.title,
       .heading = table.title,
       .lead = escaped(table.note),
       .body = grid(findings) + learning_section(findings) + missing(findings) +
               contests(findings) + numbers(findings) + commands(findings),
       .footer = fmt::format("<p>Made by Tessera {} with</p>\n<p><code>{}</code></p>\n", version(),
                             escaped(findings.command)),
       .script = ""});
}

}  // namespace tessera::experiment
