#include "report/out_of_noise.h"

#include <fmt/format.h>

#include <algorithm>

#include "drawing/page.h"
#include "drawing/svg.h"
#include "report/word_difference.h"

namespace tessera::report {
namespace {

constexpr size_t kMostRows = 11;  // steps that are shown

}  // namespace

std::string steps_table(const Condensation& condensation, const std::string& label) {
  const std::vector<Condensation::Step>& steps = condensation.steps;
  const size_t rows = std::min(kMostRows, steps.size());
  std::string html = fmt::format(
      "<div>\n<p class=\"legend\">{}: {}</p>\n<div class=\"scroll\"><table class=\"steps\">\n"
      "<thead><tr><th>t</th><th>noisy point</th><th>estimate</th></tr></thead>\n<tbody>\n",
      drawing::escaped(label), drawing::escaped(condensation.source));
  for (size_t k = 0; k < rows; ++k) {
    // The first, the last, and others evenly between them.
    const Condensation::Step& step = steps[rows == 1 ? 0 : k * (steps.size() - 1) / (rows - 1)];
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", drawing::number(step.t, 0),
                        with_marks(step.point, step.estimate), drawing::escaped(step.estimate));
  }
  return html + "</tbody>\n</table></div>\n</div>\n";
}

std::string out_of_noise_section(std::span<const RunRecord> runs,
                                 const std::vector<std::string>& labels) {
  std::string tables;
  for (size_t k = 0; k < runs.size(); ++k)
    if (runs[k].condensation) tables += steps_table(*runs[k].condensation, labels[k]);
  if (tables.empty()) return "";
  return drawing::section(
      "Out of noise",
      "<p>A sentence while it is sampled. The network is given a noisy point for every "
      "symbol, here decoded as it stands, and answers with its estimate of the whole sentence. "
      "<mark>Marked</mark> are points outside the cell of the estimated symbol; a dot is a symbol "
      "without text, such as the end.</p>\n"
      "<p>With <i>r</i> = 0 the points move into cells on the way, and from then on they repeat "
      "what was guessed, right or wrong. With <i>r</i> = 1 they stay on the borders, where they "
      "say little, and the network has to read the source.</p>\n<div class=\"cases\">\n" +
          tables + "</div>\n");
}

}  // namespace tessera::report
