#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "drawing/page.h"
#include "drawing/svg.h"
#include "experiment/findings.h"
#include "experiment/front.h"
#include "experiment/text_tables.h"
#include "report/training_charts.h"
#include "tessera/base/error.h"
namespace tessera::experiment {
namespace {

using drawing::escaped;
using drawing::section;
using report::RunRecord;
using report::Series;

// The first cell of a row is its head. Texts are escaped here.
std::string html_of(const TextTable& table) {
  std::string html = "<div class=\"scroll\"><table class=\"wide\">\n<thead><tr>";
  for (const std::string& text : table.head) html += "<th>" + escaped(text) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr><th>" + escaped(row.front()) + "</th>";
    for (size_t k = 1; k < row.size(); ++k) html += "<td>" + escaped(row[k]) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

std::string results(const Findings& findings) {
  std::string html = html_of(result_grid(findings));
  if (const std::string help = reading_help(findings); !help.empty())
    html += "<p>" + escaped(help) + "</p>\n";
  return section("Results", html);
}

std::string contest_section(const Findings& findings) {
  const TextTable table = contest_table(findings);
  if (table.rows.empty()) return "";
  return section("Against “" + escaped(findings.table->base) + "”", html_of(table));
}

std::string front_section(const Findings& findings) {
  const std::vector<FrontSeries> series = front_series(findings);
  if (series.empty()) return "";
  std::vector<std::string> names, swept;
  for (const FrontSeries& each : series) names.push_back(each.name);
  for (const auto& [name, value] : series.front().points.front().cell->cell->swept)
    swept.push_back(name);
  drawing::Figure figure;
  figure.panels.push_back(front_panel(findings, series));
  std::string html =
      report::legend(names) +
      drawing::captioned(
          drawing::panels(figure, 1, 1, "chart"),
          "Joined: nothing of the same colour is as good for the same cost or less." +
              (swept.empty() ? "" : escaped(fmt::format(" Labels: {}.", fmt::join(swept, ", ")))));
  if (const TextTable budgets = budget_table(findings); !budgets.rows.empty())
    html += html_of(budgets);
  return section("Best for their cost", html + html_of(front_table(findings)));
}

// Runs that have measured something, with one colour per model.
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
  const auto score_of = [&](const RunRecord& run) -> const Series& {
    return run.score(learning.runs.front());
  };
  if (std::any_of(learning.runs.begin(), learning.runs.end(),
                  [&](const RunRecord& run) { return !score_of(run).empty(); }))
    figure.panels.push_back(
        panel_of(learning, "Score in validation",
                 learning.runs.front().score_name() + (exact ? ", percent" : ""), exact ? 100 : 0,
                 true, score_of));
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

std::string number_section(const Findings& findings) {
  const TextTable table = number_table(findings);
  if (table.rows.empty()) return "";
  std::string html = html_of(table) + "<div class=\"listing\">\n";
  for (const std::string& signature : signatures_of(findings))
    html += "<p><code>" + escaped(signature) + "</code></p>\n";
  return section("Every number", html + "</div>\n");
}

std::string command_section(const Findings& findings) {
  std::string html = "<div class=\"listing\">\n";
  for (const Listed& each : command_list(findings))
    html +=
        fmt::format("<p>{}<br><code>{}</code></p>\n", escaped(each.what), escaped(each.command));
  return section("Commands", html + "</div>\n");
}

std::string missing_section(const Findings& findings) {
  std::string html;
  for (const Missing& each : missing_list(findings)) {
    html += fmt::format("<p>{}: {}</p>\n", escaped(each.what), status_text(each.status));
    if (!each.message.empty()) html += "<pre><code>" + escaped(each.message) + "</code></pre>\n";
  }
  if (html.empty()) return "";
  return section("Failed or not run", "<div class=\"listing\">\n" + html + "</div>\n");
}

}  // namespace

std::string html_table(const Findings& findings) {
  const Table& table = *findings.table;
  return drawing::page({.title = "Tessera: " + table.title,
                        .heading = table.title,
                        .lead = escaped(table.note),
                        .body = results(findings) + front_section(findings) +
                                learning_section(findings) + missing_section(findings) +
                                contest_section(findings) + number_section(findings) +
                                command_section(findings),
                        .footer = drawing::made_by(findings.command),
                        .script = ""});
}

}  // namespace tessera::experiment
