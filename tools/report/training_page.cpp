#include "report/training_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/numerals.h"
#include "drawing/page.h"
#include "drawing/svg.h"
#include "report/cases.h"
#include "report/configuration.h"
#include "report/out_of_noise.h"
#include "report/run_labels.h"
#include "report/training_charts.h"

namespace tessera::report {
namespace {

using drawing::captioned;
using drawing::escaped;
using drawing::Figure;
using drawing::number;
using drawing::panels;
using drawing::section;

using Runs = std::span<const RunRecord>;
using Labels = std::vector<std::string>;

bool any(Runs runs, const std::function<bool(const RunRecord&)>& has) {
  return std::any_of(runs.begin(), runs.end(), has);
}

std::vector<const Series*> series_of(Runs runs,
                                     const std::function<const Series&(const RunRecord&)>& choose) {
  std::vector<const Series*> chosen;
  for (const RunRecord& run : runs) chosen.push_back(&choose(run));
  return chosen;
}

// Adds a panel with the curves of a quantity, if any run has it.
void add_curves(Figure& figure, Runs runs, Curves curves, Series RunRecord::*quantity) {
  const auto series = [&](const RunRecord& run) -> const Series& { return run.*quantity; };
  if (!any(runs, [&](const RunRecord& run) { return !series(run).empty(); })) return;
  curves.runs = series_of(runs, series);
  figure.panels.push_back(curve_panel(curves));
}

std::string score_name(Runs runs) {
  return runs.front().score_name();
}

std::string last_value(const Series& series, int decimals, const char* unit = "") {
  return series.empty() ? "–" : fmt::format("{:.{}f}{}", series.values.back(), decimals, unit);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string speed_text(const RunRecord& run) {
  return run.updates_per_second.empty()
             ? "–"
             : fmt::format("{:.1f}", mean(run.updates_per_second.values));
}

// With the standard error of a share of so many sentences.
std::string evaluation_text(const Evaluation& evaluation) {
  const double share = evaluation.exact_match / 100;
  const double error = std::sqrt(share * (1 - share) / static_cast<double>(evaluation.sentences));
  return fmt::format("{:.1f} ± {:.1f} %", evaluation.exact_match, 100 * error);
}

std::string result_table(Runs runs, const Labels& labels) {
  const bool evaluated = any(runs, [](const RunRecord& run) { return run.evaluation.has_value(); });
  const bool percent = runs.front().scored_by_exact_match();
  std::string html = fmt::format(
      "<div class=\"scroll\"><table>\n<thead><tr><th>Run</th><th>updates</th><th>updates/s</th>"
      "<th>loss, validation</th><th>{}, validation</th>",
      escaped(score_name(runs)));
  if (evaluated) html += "<th>exact match, unseen test</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (size_t k = 0; k < runs.size(); ++k) {
    const RunRecord& run = runs[k];
    html += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
                        escaped(labels[k]), run.updates(), speed_text(run),
                        last_value(run.valid_loss, 3),
                        last_value(run.score(runs.front()), percent ? 1 : 2, percent ? " %" : ""));
    if (evaluated)
      html += fmt::format("<td>{}</td>", run.evaluation ? evaluation_text(*run.evaluation) : "–");
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

std::string introduction(Runs runs) {
  const auto task = runs.front().settings.find("data.task");
  std::string html;
  if (task != runs.front().settings.end() && task->second == "dates")
    html +=
        "<p>A small Transformer reads a date as people write it, letter by letter, "
        "<i>the third of March nineteen eighty-seven</i>, and lets <i>1987-03-03</i> condense out "
        "of noise. No date that it is tested on occurs in training.</p>\n";
  const std::vector<Difference> found = differences(runs);
  if (found.size() == 1 && found.front().key == "process.r")
    html +=
        "<p>The runs differ in <i>r</i> alone: first weights, sentences, noise and number of "
        "updates are the same. What is compared is how far each gets in that time; a curve that "
        "still rises would go on rising.</p>\n";
  return html;
}

std::string learning_section(Runs runs, const Labels& labels) {
  Figure figure;
  const auto score_of = [&](const RunRecord& run) -> const Series& {
    return run.score(runs.front());
  };
  const bool scored = any(runs, [&](const RunRecord& run) { return !score_of(run).empty(); });
  if (scored)
    figure.panels.push_back(curve_panel(
        {.caption = "Score in validation",
         .y_title = score_name(runs) + (runs.front().scored_by_exact_match() ? ", percent" : ""),
         .runs = series_of(runs, score_of),
         .top = runs.front().scored_by_exact_match() ? 100.0 : 0.0,
         .points = true}));
  add_curves(figure, runs, {"Loss in training", "loss of a symbol"}, &RunRecord::loss);
  add_curves(figure, runs,
             {.caption = "Loss in validation", .y_title = "loss of a symbol", .points = true},
             &RunRecord::valid_loss);
  add_curves(figure, runs, {"Learning rate", "learning rate"}, &RunRecord::learning_rate);
  const bool images = runs.front().of_images(), codes = runs.front().of_codes();
  std::string caption;
  if (scored && codes)
    caption = "The score is that of held-out images that were coded and made again. ";
  else if (scored)
    caption = images ? "A distance is that of images made from noise: lower is better. "
                     : "The score is that of sentences generated from noise. ";
  if (runs.size() > 1)
    caption +=
        "Losses say little across different <i>r</i>: the larger <i>r</i>, the harder the "
        "questions a network is asked.";
  return section(codes    ? "Learning codes of images"
                 : images ? "Learning to make images"
                          : "Learning to write",
                 introduction(runs) + legend(labels) +
                     captioned(panels(figure, 2, 1, "charts"), caption) +
                     result_table(runs, labels));
}

std::string border_section(Runs runs, const Labels& labels) {
  if (!any(runs, [](const RunRecord& run) { return !run.exit_histogram.empty(); })) return "";
  return section(
      "When symbols become recognisable",
      "<p>For every symbol of the validation sentences a path is drawn from its code to noise. "
      "Before the stopping time <i>t</i><sub>0</sub> the path is within the symbol's own cell, and "
      "rounding would give the symbol away.</p>\n" +
          legend(labels) +
          captioned(panels({"", "", {histogram_panel(runs)}, 1}, 1, 1, "chart"),
                    "Of the last validation, with the codes as each run has learned them. Paths "
                    "that never leave their cell count as T."));
}

// The section about gradients and speed.
std::string course_section(Runs runs, const Labels& labels) {
  Figure figure;
  add_curves(figure, runs, {"Gradient", "norm, before it is clipped"}, &RunRecord::gradient_norm);
  add_curves(figure, runs, {"Updates a second", "updates/s"}, &RunRecord::updates_per_second);
  if (figure.panels.empty()) return "";
  return section("The course of training",
                 legend(labels) + captioned(panels(figure, 2, 1, "charts"),
                                            "Between two lines of the log; the time of "
                                            "validations is not counted."));
}

// What the short names in the log and in --show-steps mean.
std::string glossary_section(Runs runs) {
  if (!any(runs, [](const RunRecord& run) { return !run.exit_histogram.empty(); })) return "";
  return section(
      "Words of the log",
      "<dl class=\"glossary\">\n"
      "<dt>tau</dt><dd>The rescaled time τ of the training points, as a mean share of T: 0 is the "
      "clean code, 1 is noise. The larger <i>r</i>, the larger it is.</dd>\n"
      "<dt>outside</dt><dd>In the log, the share of symbols whose own code already decodes to "
      "another symbol, which should be 0. In <code>generate --show-steps</code>, the share of "
      "noisy points outside the cell of the symbol the network sees in them: at <i>r</i> = 0 it "
      "falls to 0, at <i>r</i> = 1 points stay on the borders and it need not fall.</dd>\n"
      "<dt>changed</dt><dd>In <code>generate --show-steps</code>, the share of symbols of the "
      "network's estimate that differ from those a step before.</dd>\n"
      "<dt>reach</dt><dd>The mean length of the network's estimates over that of the codes; well "
      "below 1, sampling suffers.</dd>\n"
      "<dt>length</dt><dd>The cross-entropy of the predicted sentence length.</dd>\n"
      "</dl>\n");
}

std::string pictures_section(Runs runs, const Labels& labels) {
  constexpr size_t kShown = 8;  // moments of a run
  if (!any(runs, [](const RunRecord& run) { return !run.pictures.empty(); })) return "";
  std::string html;
  for (size_t k = 0; k < runs.size(); ++k) {
    const auto& all = runs[k].pictures;
    html += fmt::format("<h3>{}</h3>\n<div class=\"made\">\n", escaped(labels[k]));
    for (size_t shown = 0, last = all.size(); shown < std::min(kShown, last); ++shown) {
      const auto& picture = all[last <= kShown ? shown : shown * (last - 1) / (kShown - 1)];
      html += fmt::format(
          "<figure><img src=\"{0}\" alt=\"images after "
          "{1}\"><figcaption>{1}</figcaption></figure>\n",
          escaped(picture.uri), counted(picture.step, "update"));
    }
    html += "</div>\n";
  }
  constexpr std::string_view kStyle =
      "<style>.made { display: grid; gap: 1rem; grid-template-columns: "
      "repeat(auto-fill, minmax(9rem, 1fr)); } .made img { width: 100%; image-rendering: "
      "pixelated; } .made figure { margin: 0; }</style>\n";
  const bool codes = runs.front().of_codes();
  return section(
      codes ? "Images that came back" : "Images made on the way",
      std::string(kStyle) + html +
          (codes ? "<p>Held-out images, each beside what its codes make of it, with the "
                   "averaged weights.</p>\n"
                 : "<p>From the same noise every time, with the averaged weights.</p>\n"));
}

}  // namespace

std::string training_sections(std::span<const RunRecord> runs) {
  const Labels labels = run_labels(runs);
  return learning_section(runs, labels) + cases_section(runs, labels) +
         out_of_noise_section(runs, labels) + pictures_section(runs, labels) +
         border_section(runs, labels) + course_section(runs, labels) +
         configuration_section(runs, labels) + glossary_section(runs);
}

std::string training_page(std::span<const RunRecord> runs, const std::string& command) {
  std::string names;
  for (const RunRecord& run : runs) names += (names.empty() ? "" : ", ") + run.name;
  return drawing::page(
      {.title = "Tessera: training of " + names,
       .heading = runs.size() == 1 ? "A training run" : "Training runs, side by side",
       .lead = escaped(names),
       .body = training_sections(runs),
       .footer = drawing::made_by(command),
       .script = ""});
}

}  // namespace tessera::report
