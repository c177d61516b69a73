#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "base/visible_text.h"
#include "experiment/estimate.h"
#include "experiment/findings.h"
#include "experiment/runner.h"
#include "experiment/table_files.h"
#include "experiment/table_run.h"
#include "installed_files.h"
#include "option_checks.h"
#include "print_json.h"
#include "stop_signal.h"
#include "tensor/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
using experiment::JobKind;
using experiment::JobState;
using experiment::JobStatus;
using experiment::Json;

struct ExperimentCommand {
  fs::path file, out;
  std::vector<std::string> data, set, only, devices;
  int jobs = 0;  // 0: one for each device
  bool dry_run = false;
};

// "name=value", several times.
//   form  of one, for the message: "--data is NAME=DIR"
template <class Value>
std::map<std::string, Value> assignments(const std::vector<std::string>& words, const char* form) {
  std::map<std::string, Value> result;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    require_option(equals != std::string::npos && equals > 0 && equals + 1 < word.size(),
                   "{}, got '{}'", form, word);
    result[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return result;
}

// Global options for all commands that it runs.
//   jobs  processes at once: on a CPU they share its cores
std::vector<std::string> passed_on(const GlobalOptions& globals, int jobs) {
  std::vector<std::string> words;
  if (globals.device != "auto") words.insert(words.end(), {"--device", globals.device});
  int threads = globals.threads;
  if (threads == 0 && jobs > 1)
    threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / jobs);
  if (threads > 0) words.insert(words.end(), {"--threads", fmt::format("{}", threads)});
  return words;
}

std::string command_line(const ExperimentCommand& command,
                         const std::vector<std::string>& globals) {
  std::vector<std::string> words{"tessera"};
  words.insert(words.end(), globals.begin(), globals.end());
  words.insert(words.end(), {"experiment", command.file.string(), "--out", command.out.string()});
  for (const std::string& data : command.data) words.insert(words.end(), {"--data", data});
  for (const std::string& set : command.set) words.insert(words.end(), {"--set", set});
  return experiment::shell_text(words);
}

// A misspelt option of a cell is better found now than after hours of training.
void check_options(const experiment::Table& table) {
  std::string problems;
  for (const experiment::Cell& cell : table.cells) {
    CLI::App program;
    add_evaluate_check(program);
    std::vector<std::string> words{"evaluate", "RUN"};
    words.insert(words.end(), cell.evaluate.begin(), cell.evaluate.end());
    std::reverse(words.begin(), words.end());  // CLI11 wants them in this order
    try {
      program.parse(words);
    } catch (const CLI::ParseError& error) {
      problems += fmt::format("{}{}: the cell '{}' cannot be evaluated: {}",
                              problems.empty() ? "" : "\n", cell.where, cell.row, error.what());
    }
  }
  if (!problems.empty()) throw UsageError(problems, "`tessera evaluate --help` has the options");
}

void print_dry_run(const experiment::Table& table, const experiment::Plan& plan,
                   const std::vector<JobState>& states, const std::vector<bool>& selected,
                   const std::vector<experiment::Estimate>& estimates, bool as_json) {
  const auto status = [&](size_t job) {
    return states[job].status == JobStatus::done ? "done" : selected[job] ? "to run" : "left out";
  };
  double hours = 0;
  size_t evaluations = 0;
  for (const auto& each : estimates) hours += each.hours.value_or(0);
  for (size_t k = 0; k < plan.jobs.size(); ++k)
    evaluations += plan.jobs[k].kind == JobKind::evaluation && selected[k] &&
                   states[k].status != JobStatus::done;
  if (as_json) {
    Json json{{"title", table.title},
              {"jobs", Json::array()},
              {"trainings", Json::array()},
              {"training_hours", hours},
              {"evaluations", evaluations}};
    for (size_t k = 0; k < plan.jobs.size(); ++k)
      json["jobs"].push_back(
          {{"what", plan.jobs[k].title},
           {"status", status(k)},
           {"command", "tessera " + experiment::shell_text(plan.jobs[k].command)}});
    for (const auto& each : estimates)
      json["trainings"].push_back({{"model", each.model},
                                   {"runs", each.runs},
                                   {"hours", each.hours ? Json(*each.hours) : Json()},
                                   {"updates_per_second", each.updates_per_second},
                                   {"problem", each.problem}});
    print_json(json);
    return;
  }
  fmt::print("{}\n", visible(table.title));
  for (size_t k = 0; k < plan.jobs.size(); ++k)
    fmt::print("{:<9} {}\n", status(k), visible(plan.jobs[k].title));
  fmt::print("\n");
  for (const auto& each : estimates) {
    if (each.hours)
      fmt::print("{:<24} {} in {}, {:.2f} updates/s\n", each.model, counted(each.runs, "training"),
                 duration_text(3600 * *each.hours), each.updates_per_second);
    else
      fmt::print("{:<24} {}, cost unknown: {}\n", each.model, counted(each.runs, "training"),
                 each.problem);
  }
  fmt::print("{} of training one after the other, validation not counted; {} evaluations\n",
             duration_text(3600 * hours), evaluations);
}

void run_experiment(const ExperimentCommand& command, const GlobalOptions& globals,
                    const std::stop_token& stop) {
  const auto set = assignments<std::string>(command.set, "--set is NAME=VALUE");
  const auto data = assignments<fs::path>(command.data, "--data is NAME=DIR");
  const experiment::Table table = experiment::read_table(command.file, set);
  check_options(table);
  require_option(!command.out.empty(), "--out is empty: name a folder for the experiment");
  experiment::RunnerOptions options;
  options.globals = passed_on(globals, command.jobs);
  options.jobs = command.jobs;
  options.devices = command.devices;
  if (command.dry_run) {
    const experiment::ResultStore store(command.out);
    const experiment::Plan plan = experiment::make_plan(table, store, data);
    const std::vector<bool> selected = experiment::selected_jobs(table, plan, command.only);
    const auto states = experiment::states_of(plan, store);
    return print_dry_run(table, plan, states, selected,
                         experiment::estimate(table, plan, states, selected, options, stop),
                         globals.json);
  }

  const ExperimentResult result =
      experiment::run_table(table, {.table = command.file,
                                    .out = command.out,
                                    .program = options.program,
                                    .data = data,
                                    .set = set,
                                    .only = command.only,
                                    .flags = options.globals,
                                    .jobs = command.jobs,
                                    .devices = command.devices,
                                    .seed = globals.seed,
                                    .command = command_line(command, options.globals),
                                    .stop = stop});
  std::cout << (globals.json ? result.json + "\n" : result.markdown);
  log::info("{}", result.page.string());
  require(result.failed == 0, "{} of {} failed: the table says why; the same command tries again",
          result.failed, counted(result.jobs, "job"));
}

}  // namespace

void add_experiment(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* experiment = program.add_subcommand(
      "experiment", "train and measure the models of a table of results, and write the table");
  auto command = std::make_shared<ExperimentCommand>();
  experiment
      ->add_option("table", command->file,
                   "the table's file, such as recipes/tables/table1-multi30k.toml")
      ->required()
      ->option_text("TABLE.toml");
  experiment
      ->add_option("--out", command->out,
                   "folder for runs, results and the table; finished work in it is kept, and "
                   "several tables can share it")
      ->required()
      ->option_text("DIR");
  experiment
      ->add_option("--data", command->data,
                   "folder of a corpus of the table, written by `tessera prepare`; can be repeated")
      ->option_text("NAME=DIR");
  experiment
      ->add_option("--set", command->set, "replace a value in [set] of the table; can be repeated")
      ->option_text("NAME=VALUE");
  experiment
      ->add_option(
          "--jobs", command->jobs,
          "number of trainings and evaluations to run at once (default: 1, or one for each "
          "device)")
      ->check(whole_number(1))
      ->option_text("N");
  experiment
      ->add_option("--devices", command->devices,
                   "devices to spread them over: cuda:0,cuda:1; each takes the one with the fewest")
      ->delimiter(',')
      ->option_text("NAME,...");
  experiment
      ->add_option("--only", command->only,
                   "rows or models of the table to run, with the models they need")
      ->option_text("NAME...");
  experiment->add_flag("--dry-run", command->dry_run,
                       "list finished and open work and estimate what it would cost");
  experiment->callback([command, &globals] {
    command->file = find_recipe(command->file);
    require_option(command->devices.empty() || globals.device == "auto",
                   "--device names one, and --devices several: use one of them");
    for (const std::string& device : command->devices) parse_device(device);
    if (command->jobs == 0)
      command->jobs = std::max(1, static_cast<int>(std::ssize(command->devices)));
    const StopSignal stop;
    try {
      run_experiment(*command, globals, stop.token());
    } catch (const experiment::Stopped&) {
      throw Stopped(stop.signal());
    }
  });
}

}  // namespace tessera::app
