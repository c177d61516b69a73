#include "report/configuration.h"

#include <fmt/format.h>

#include <algorithm>

#include "drawing/page.h"
#include "drawing/svg.h"
#include "report/run_labels.h"

namespace tessera::report {
namespace {

using drawing::escaped;

std::string difference_table(const std::vector<Difference>& found,
                             const std::vector<std::string>& labels) {
  std::string html = "<div class=\"scroll\"><table>\n<thead><tr><th>Setting</th>";
  for (const std::string& label : labels) html += "<th>" + escaped(label) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const Difference& difference : found) {
    html += fmt::format("<tr><th><code>{}</code></th>", escaped(difference.key));
    for (const std::string& value : difference.values) html += "<td>" + escaped(value) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

bool in_all(std::span<const RunRecord> runs, const std::string& key, const std::string& value) {
  return std::all_of(runs.begin(), runs.end(), [&](const RunRecord& run) {
    const auto found = run.settings.find(key);
    return found != run.settings.end() && found->second == value;
  });
}

// The settings that all runs share.
std::string setting_table(std::span<const RunRecord> runs, const std::string& title) {
  std::string rows;
  size_t count = 0;
  for (const auto& [key, value] : runs.front().settings) {
    if (!in_all(runs, key, value)) continue;
    rows +=
        fmt::format("<tr><th><code>{}</code></th><td>{}</td></tr>\n", escaped(key), escaped(value));
    ++count;
  }
  return fmt::format(
      "<details>\n<summary>{}: {} settings</summary>\n<div class=\"scroll\"><table "
      "class=\"settings\">\n<tbody>\n{}</tbody>\n</table></div>\n</details>\n",
      title, count, rows);
}

}  // namespace

std::string configuration_section(std::span<const RunRecord> runs,
                                  const std::vector<std::string>& labels) {
  if (runs.size() == 1)
    return drawing::section("Configuration", setting_table(runs, "All of the recipe"));
  const std::vector<Difference> found = differences(runs);
  const std::string what =
      found.empty() ? "<p>No setting: equal runs.</p>\n" : difference_table(found, labels);
  return drawing::section("What differs", what + setting_table(runs, "What all have in common"));
}

}  // namespace tessera::report
