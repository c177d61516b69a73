#include "report/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "drawing/page.h"
#include "drawing/svg.h"
#include "report/word_difference.h"

namespace tessera::report {
namespace {

constexpr size_t kDiffering = 8, kEqual = 2;  // cases of an evaluation that are shown

using Case = Cases::Case;
using Runs = std::span<const RunRecord>;

// Sentences that all runs have, in the order of the first run.
std::vector<Case> common(Runs runs, std::vector<Sample> RunRecord::*samples) {
  std::vector<std::map<std::pair<std::string, std::string>, std::string>> others;
  for (const RunRecord& run : runs.subspan(1)) {
    auto& texts = others.emplace_back();
    for (const Sample& sample : run.*samples)
      texts.try_emplace({sample.source, sample.reference}, sample.generated);
  }
  std::vector<Case> cases;
  for (const Sample& sample : runs.front().*samples) {
    Case found{sample.source, sample.reference, {sample.generated}};
    for (const auto& texts : others)
      if (const auto text = texts.find({sample.source, sample.reference}); text != texts.end())
        found.generated.push_back(text->second);
    if (found.generated.size() == runs.size()) cases.push_back(std::move(found));
  }
  return cases;
}

bool differs(const Case& each) {
  if (each.generated.size() == 1) return each.generated.front() != each.reference;
  return std::any_of(each.generated.begin(), each.generated.end(),
                     [&](const std::string& text) { return text != each.generated.front(); });
}

std::string introduction(const Cases& cases, Runs runs) {
  std::string html = "<p>";
  if (!cases.evaluated) {
    html += "Sentences of the last validation.";
  } else if (runs.size() > 1) {
    html += fmt::format(
        "The runs wrote the same text for {} of {} test sentences. Below are the first on which "
        "they differ, and a few on which they agree.",
        cases.compared - cases.differing, cases.compared);
  } else {
    html += fmt::format(
        "{} of {} test sentences equal their reference. Below are the first that do not, and a few "
        "that do.",
        cases.compared - cases.differing, cases.compared);
  }
  html += " <mark>Marked</mark> is what the reference does not have.";
  if (!runs.front().scored_by_exact_match())
    html += " A text may differ from its one reference and still be right.";
  return html + "</p>\n";
}

std::string row(const std::string& css_class, const std::string& title, const std::string& text) {
  return fmt::format("<dt{}>{}</dt><dd>{}</dd>\n", css_class, title, text);
}

std::string case_html(const Case& each, const std::vector<std::string>& labels) {
  std::string html =
      "<dl class=\"case\">\n" + row(" class=\"quiet\"", "source", drawing::escaped(each.source));
  for (size_t k = 0; k < labels.size(); ++k) {
    const std::string title = labels.size() == 1 ? "generated" : drawing::escaped(labels[k]);
    html += row("", title, with_marks(each.generated[k], each.reference));
  }
  html += row(" class=\"quiet\"", "reference", drawing::escaped(each.reference));
  return html + "</dl>\n";
}

}  // namespace

Cases choose_cases(Runs runs) {
  Cases cases;
  std::vector<Case> all = common(runs, &RunRecord::evaluated);
  cases.evaluated = !all.empty();
  if (!cases.evaluated) all = common(runs, &RunRecord::samples);
  cases.compared = all.size();
  cases.differing = static_cast<size_t>(std::count_if(all.begin(), all.end(), differs));
  if (!cases.evaluated) {
    cases.shown = std::move(all);
    return cases;
  }
  const auto take = [&](bool differing, size_t most) {
    for (const Case& each : all) {
      if (most == 0) return;
      if (differs(each) != differing) continue;
      cases.shown.push_back(each);
      --most;
    }
  };
  take(true, kDiffering);
  take(false, kEqual);
  return cases;
}

std::string cases_section(Runs runs, const std::vector<std::string>& labels) {
  const Cases cases = choose_cases(runs);
  if (cases.shown.empty()) return "";
  std::string html;
  for (const Case& each : cases.shown) html += case_html(each, labels);
  return drawing::section(
      runs.size() == 1 ? "Samples" : "The same sentences, side by side",
      introduction(cases, runs) + "<div class=\"cases\">\n" + html + "</div>\n");
}

}  // namespace tessera::report
