#include "command.h"

#include "base/require.h"
#include "files/files.h"
#include "print_json.h"

#include <tessera/report/metrics_table.h>
#include <tessera/report/training_report.h>

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

namespace tessera::app {
namespace {

struct ReportCommand {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path out;  // empty: report.html; of a table, standard output
  bool csv = false;
};

// The command that makes the same page again.
std::string command_line(const ReportCommand& command) {
  std::string line = "tessera report";
  for (const auto& run : command.runs) line += " " + run.string();
  return line + " --out " + command.out.string();
}

// Writes what was made, and says where it is.
//   what  its name in JSON
void write(const std::filesystem::path& file, const std::string& bytes, const char* what,
           const GlobalOptions& globals) {
  write_file_atomically(file, bytes, Links::follow);
  if (globals.json)
    print_json(nlohmann::ordered_json{{what, file.string()}});
  else
    std::cout << file.string() << '\n';
}

void run_report(ReportCommand command, const GlobalOptions& globals) {
  if (command.csv) {
    require_option(!globals.json || !command.out.empty(),
                   "--csv and --json are two forms of what is printed: choose one, or name a file "
                   "for the table with --out");
    const std::string table = metrics_csv(command.runs);
    if (command.out.empty())
      std::cout << table;
    else
      write(command.out, table, "table", globals);
    return;
  }
  if (command.out.empty()) command.out = "report.html";
  write(command.out, training_report(command.runs, command_line(command)), "page", globals);
}

}  // namespace

void add_report(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* report = program.add_subcommand("report",
                                            "curves, samples and differences of training runs, as "
                                            "one HTML page; or their metrics as CSV");
  report->footer(
      "  tessera report runs/a runs/b --out report.html     # a page\n"
      "  tessera report runs/a runs/b --csv > metrics.csv   # a table\n"
      "The table has a line for every record of metrics.jsonl and a column for every value, the\n"
      "name of the run first if there are several. Cells are empty where a record lacks a value\n"
      "or it was not finite; histograms, samples and pictures are left out.");
  auto command = std::make_shared<ReportCommand>();
  report
      ->add_option(
          "runs", command->runs,
          "folders that `tessera train` wrote; running ones are fine. What `tessera "
          "evaluate RUN --json` printed is shown too if it is in RUN/evaluation.json, and "
          "what it wrote with --out RUN/evaluation.jsonl: sentences side by side; and what "
          "`tessera generate RUN --show-steps --json` printed for a sentence in "
          "RUN/condensation.json")
      ->required()
      ->option_text("RUN...");
  report
      ->add_option("--out", command->out,
                   "file to write (default: report.html; of a table, standard output)")
      ->option_text("FILE");
  report->add_flag("--csv", command->csv,
                   "what was measured, as a table of comma-separated values");
  report->callback([command, &globals] { run_report(*command, globals); });
}

}  // namespace tessera::app
