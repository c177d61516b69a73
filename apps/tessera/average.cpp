#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "files/weight_average.h"
#include "option_checks.h"
#include "print_json.h"
#include "seq2seq/model_folder.h"
#include "train/checkpoints.h"
#include "train/run_folder.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

struct AverageCommand {
  std::vector<fs::path> folders;
  int64_t last = 0;
  std::vector<int64_t> steps;
  fs::path out;
};

bool chooses(const AverageCommand& command) {
  return command.last > 0 || !command.steps.empty();
}

// The steps of the newest `count` checkpoints, oldest first.
std::vector<int64_t> newest_steps(const train::Checkpoints& checkpoints, const fs::path& run,
                                  int64_t count) {
  std::vector<int64_t> steps;
  for (const train::Checkpoint& each : checkpoints.all()) steps.push_back(each.step);
  const auto there = static_cast<int64_t>(steps.size());
  if (there < count)
    throw Error(
        fmt::format("'{}' has {}, not {}", run.string(), counted(there, "checkpoint"), count),
        steps.empty() ? ""
                      : fmt::format("there are: {} (train.keep_last says how many a "
                                    "training keeps)",
                                    fmt::join(steps, ", ")));
  steps.erase(steps.begin(), steps.end() - count);
  return steps;
}

std::vector<fs::path> checkpoint_folders(const AverageCommand& command) {
  const fs::path& run = command.folders.front();
  std::error_code ignored;
  require(fs::is_directory(run, ignored), "there is no folder '{}'", run.string());
  require_option(!is_model_folder(run),
                 "'{}' is a single model: --last and --steps choose checkpoints of a run",
                 run.string());
  const train::Checkpoints checkpoints(run);
  std::vector<int64_t> steps = command.steps;
  if (steps.empty()) steps = newest_steps(checkpoints, run, command.last);
  std::vector<fs::path> folders;
  for (const int64_t step : steps)
    folders.push_back(checkpoints.resolve(std::to_string(step)).folder);
  return folders;
}

std::vector<fs::path> folders_to_average(const AverageCommand& command) {
  if (chooses(command)) {
    require_option(command.folders.size() == 1, "--last and --steps are for a single run, got {}",
                   command.folders.size());
    return checkpoint_folders(command);
  }
  require_option(command.folders.size() > 1,
                 "one folder is nothing to average: choose checkpoints of a run with --last N or "
                 "--steps A,B,..., or name several models");
  require_option(!command.out.empty(), "--out is missing: where should the model be written to?");
  std::vector<fs::path> folders;
  for (const fs::path& folder : command.folders) folders.push_back(find_model_folder(folder));
  return folders;
}

void run_average(const AverageCommand& command, const GlobalOptions& globals) {
  const std::vector<fs::path> folders = folders_to_average(command);
  const fs::path out = !command.out.empty()
                           ? command.out
                           : command.folders.front() / fmt::format("average-{}", folders.size());
  average_models(folders, out);
  std::vector<std::string> names;
  for (const fs::path& folder : folders) names.push_back(folder.string());
  log::info("the mean of {} models: {}", names.size(), fmt::join(names, ", "));
  if (globals.json)
    print_json(nlohmann::ordered_json{{"model", out.string()}, {"averaged", names}});
  else
    std::cout << out.string() << '\n';
}

}  // namespace

void add_average(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* average = program.add_subcommand(
      "average", "average the weights of checkpoints into a new model folder");
  average->footer(
      "The mean of a run's last checkpoints may do better than each of them. Try and measure:\n"
      "  tessera train recipes/multi30k.toml train.keep_last=3 ...\n"
      "  tessera average runs/m30k --last 3\n"
      "  tessera evaluate runs/m30k/average-3 --data data/m30k\n"
      "Models of different runs can be averaged if they share options and dictionary and began\n"
      "with the same weights (train.init):\n"
      "  tessera average runs/a runs/b --out models/ab");
  auto command = std::make_shared<AverageCommand>();
  average
      ->add_option("folders", command->folders,
                   "a run; or several models (a run then stands for its best checkpoint)")
      ->required()
      ->option_text("RUN | MODEL MODEL...");
  CLI::Option* last = average->add_option("--last", command->last, "the newest N checkpoints")
                          ->check(whole_number(1))
                          ->option_text("N");
  average
      ->add_option("--steps", command->steps, "the checkpoints of these steps, with commas between")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber)
      ->allow_extra_args(false)
      ->option_text("A,B,...")
      ->excludes(last);
  average
      ->add_option("--out", command->out,
                   "folder to write, which must not exist (default: RUN/average-N)")
      ->option_text("FOLDER");
  average->callback([command, &globals] { run_average(*command, globals); });
}

}  // namespace tessera::app
