#include "command.h"

#include "files/files.h"
#include "print_json.h"

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
  std::filesystem::path out = "report.html";
};

// The command that makes the same page again.
std::string command_line(const ReportCommand& command) {
  std::string line = "tessera report";
  for (const auto& run : command.runs) line += " " + run.string();
  return line + " --out " + command.out.string();
}

void run_report(const ReportCommand& command, const GlobalOptions& globals) {
  write_file_atomically(command.out, training_report(command.runs, command_line(command)),
                        Links::follow);
  if (globals.json)
    print_json(nlohmann::ordered_json{{"page", command.out.string()}});
  else
    std::cout << command.out.string() << '\n';
}

}  // namespace

void add_report(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* report = program.add_subcommand(
      "report", "curves, samples and differences of training runs, as one HTML page");
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
  report->add_option("--out", command->out, "page to write")
      ->capture_default_str()
      ->option_text("FILE");
  report->callback([command, &globals] { run_report(*command, globals); });
}

}  // namespace tessera::app
