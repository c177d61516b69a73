#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiment/findings.h"
#include "experiment/front.h"
#include "experiment/text_tables.h"

namespace tessera::experiment {
namespace {

std::string line_of(const std::vector<std::string>& row) {
  std::string line = "|";
  for (const std::string& text : row) {
    line += ' ';
    for (const char c : text) line += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
    line += " |";
  }
  return line + "\n";
}

std::string text_of(const TextTable& table) {
  std::string text = line_of(table.head) + line_of({table.head.size(), "---"});
  for (const auto& row : table.rows) text += line_of(row);
  return text;
}

// Escapes stars: Markdown must not take them for the beginning of a list.
std::string with_stars(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '*' ? "\\*" : std::string(1, c);
  return escaped;
}

std::string indented(const std::string& text) {
  std::string lines = "    ";
  for (const char c : text) lines += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return lines + "\n";
}

std::string missing(const Findings& findings) {
  std::string failed, not_run;
  for (const Missing& each : missing_list(findings)) {
    if (each.status == JobStatus::failed)
      failed += fmt::format("- {}\n\n{}\n", each.what, indented(each.message));
    else
      not_run +=
          fmt::format("- {}{}\n", each.what, each.status == JobStatus::running ? " (running)" : "");
  }
  return (failed.empty() ? "" : "\n## Failed\n" + failed) +
         (not_run.empty() ? "" : "\n## Not run\n" + not_run);
}

std::string numbers(const Findings& findings) {
  const TextTable table = number_table(findings);
  if (table.rows.empty()) return "";
  std::string text = "\n## Every number\n" + text_of(table) + "\n";
  for (const std::string& signature : signatures_of(findings)) text += "- `" + signature + "`\n";
  return text;
}

std::string front(const Findings& findings) {
  std::string text;
  for (const TextTable& table : {budget_table(findings), front_table(findings)})
    if (!table.rows.empty()) text += "\n" + text_of(table);
  return text.empty() ? "" : "\n## Best for their cost" + text;
}

}  // namespace

std::string markdown_table(const Findings& findings) {
  const Table& table = *findings.table;
  std::string text = fmt::format("# {}\n", table.title);
  if (!table.note.empty()) text += table.note + "\n";
  text += "\n" + text_of(result_grid(findings));
  if (const std::string help = reading_help(findings); !help.empty())
    text += "\n" + with_stars(help) + "\n";
  text += front(findings) + missing(findings);
  if (const TextTable contests = contest_table(findings); !contests.rows.empty())
    text += fmt::format("\n## Against “{}”\n", table.base) + text_of(contests);
  text += numbers(findings) + "\n## Commands\n";
  for (const Listed& each : command_list(findings))
    text += fmt::format("- {}\n  `{}`\n", each.what, each.command);
  return text + fmt::format("\nMade with `{}`.\n", findings.command);
}

}  // namespace tessera::experiment
