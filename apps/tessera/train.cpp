#include "choices.h"
#include "command.h"
#include "console.h"
#include "launch.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "installed_files.h"
#include "option_checks.h"
#include "print_json.h"
#include "stop_signal.h"

#include <tessera/task/training.h>

#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

namespace tessera::app {
namespace {

struct TrainCommand {
  TrainingRequest request;
  bool dry_run = false;
  std::filesystem::path profile;
  bool dump = false;
  std::string launcher = std::string(name_of(Launcher::variables));
  double rank_timeout = RankOptions().timeout;
};

// One of several processes that train together.
void join_others(const TrainCommand& command, const GlobalOptions& globals, RankOptions& ranks) {
  ranks = read_launch(parse_name<Launcher>(command.launcher), std::getenv);
  ranks.timeout = command.rank_timeout;
  if (ranks.size == 1) return;
  // LibTorch would print stack traces when another process goes. It reads the variable only here.
  setenv("TORCH_CPP_LOG_LEVEL", "FATAL", /*overwrite=*/0);
  c10::initLogging();
  if (ranks.rank == 0) return;
  globals.console->speak_as(fmt::format("process {}", ranks.rank));
  globals.console->set_level(Console::Level::quiet);
}

// Separates the words after `train`: recipes, then key=value.
void sort_words(TrainingRequest& request) {
  std::vector<std::string>& words = request.overrides;
  const auto is_file = [](const std::string& word) {
    std::error_code ignored;
    return word.find('=') == std::string::npos || std::filesystem::exists(word, ignored);
  };
  const auto first_value = std::find_if_not(words.begin(), words.end(), is_file);
  for (auto word = first_value; word != words.end(); ++word)
    require_option(!word->ends_with(".toml") || word->find('=') != std::string::npos,
                   "the recipe '{}' comes too late: recipes stand before key=value", *word);
  if (first_value == words.begin()) return;
  request.recipe = find_recipe(words.front());
  for (auto word = words.begin() + 1; word != first_value; ++word)
    request.methods.push_back(find_recipe(*word));
  words.erase(words.begin(), first_value);
}

// A title and its text. Further lines of the text stand below the first.
void print_fact(const std::string& title, std::string text) {
  constexpr int kColumn = 16;
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, kColumn, ' ');
  fmt::print("{:<{}}{}\n", title, kColumn, text);
}

void print_as_json(const TrainingCost& cost) {
  nlohmann::ordered_json json{{"parameters", cost.parameters}};
  for (const TrainingCost::Fact& fact : cost.facts)
    json[fact.key] = nlohmann::ordered_json::parse(fact.json);
  json.update({{"memory_bytes", cost.memory},
               {"step_seconds", 1 / cost.updates_per_second},
               {"updates_per_second", cost.updates_per_second},
               {"hours", cost.hours}});
  print_json(json);
}

void print(const TrainingCost& cost) {
  print_fact("parameters", short_count(cost.parameters));
  for (const TrainingCost::Fact& fact : cost.facts)
    if (!fact.title.empty()) print_fact(fact.title, fact.text);
  print_fact("memory",
             fmt::format("{:.2f} GiB at most, on {}", cost.memory / 1073741824.0, cost.device));
  print_fact("step", fmt::format("{:.1f} ms: {:.2f} updates/s", 1000 / cost.updates_per_second,
                                 cost.updates_per_second));
  print_fact(cost.updates_made > 0 ? "rest of the run" : "whole run",
             fmt::format("{} in {}, validation not counted", counted(cost.updates_left, "update"),
                         duration_text(3600 * cost.hours)));
  if (cost.profiled_updates > 0)
    fmt::print("\n{} updates: {}", cost.profiled_updates, cost.profile);
}

// What a person wants to know about a finished training.
void say_what_was_reached(const TrainingResult& result) {
  const std::string run = result.run.string();
  if (result.seconds > 0)
    log::info("done: {} has made {}; this training took {}", run, counted(result.steps, "update"),
              duration_text(result.seconds));
  else
    log::info("done: {} is complete, with {}", run, counted(result.steps, "update"));
  if (result.best)
    log::highlight("best: {} at step {}, kept in {}", result.best->text, result.best->step,
                   (result.run / "best").string());
  const char* title = "next:";
  for (const std::string& command : result.next_commands)
    log::info("{:<5} {}", std::exchange(title, ""), command);
}

void run_training(const Training& training) {
  const StopSignal stop;
  const TrainingResult result = training.run(stop.token());
  if (!result.stopped) return say_what_was_reached(result);
  // Of several processes, the signal may have reached another one.
  const int signal = stop.signal() != 0 ? stop.signal() : SIGTERM;
  log::info("what was learnt is saved: `tessera train --resume {}` goes on", result.run.string());
  throw Stopped(signal);
}

void train_model(const TrainCommand& command, const GlobalOptions& globals) {
  require_option(!command.request.resume.empty() || !command.request.recipe.empty(),
                 "name a recipe, or a run to go on with: --resume RUN");
  const Training training(command.request);
  require_option(command.profile.empty() || command.dry_run, "--profile needs --dry-run");
  if (command.dump) {
    fmt::print("{}", training.config());
    return;
  }
  // cuBLAS reads this when its first handle is made.
  if (training.deterministic()) setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  if (!command.dry_run)
    run_training(training);
  else if (globals.json)
    print_as_json(training.estimate());
  else
    print(training.estimate(command.profile));
}

}  // namespace

void add_train(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* train = program.add_subcommand(
      "train", "train a model from recipes, or resume a run that was stopped");
  auto command = std::make_shared<TrainCommand>();
  train->add_option("--resume", command->request.resume, "folder of a run to resume")
      ->option_text("RUN");
  train->add_flag(
      "--dry-run", command->dry_run,
      "estimate what the run would cost (parameters, memory, time), without writing anything");
  train
      ->add_option("--profile", command->profile,
                   "with --dry-run: profile an update, and write a trace for chrome://tracing")
      ->check(file_to_write())
      ->option_text("FILE");
  train->add_flag("--or-resume", command->request.or_resume,
                  "go on with the run where train.out holds one already: the same command may be "
                  "started again and again");
  train
      ->add_option(
          "--launcher", command->launcher,
          "who started several processes that train together: variables (RANK, WORLD_SIZE, "
          "...; torchrun sets them), slurm, mpi, or none")
      ->capture_default_str()
      ->option_text(choices<Launcher>());
  train
      ->add_option("--rank-timeout", command->rank_timeout,
                   "seconds after which a process that does not answer is given up")
      ->capture_default_str()
      ->check(number_in(1, 1e6))
      ->option_text("SECONDS");
  train->add_flag("--dump-config", command->dump, "print the configuration in effect as TOML");
  train
      ->add_option("recipe", command->request.overrides,
                   "recipe files, laid over each other from left to right: of the data, then of a "
                   "method (recipes/methods); then key=value overrides (see `tessera options`)")
      ->option_text("RECIPE... key=value...");
  train->callback([command, &globals] {
    TrainingRequest& request = command->request;
    if (request.resume.empty()) sort_words(request);
    require_option(!request.or_resume || request.resume.empty(),
                   "--or-resume is for a recipe; --resume names the run itself");
    if (!command->dry_run && !command->dump) join_others(*command, globals, request.ranks);
    request.device = globals.device;
    request.seed = globals.seed;
    train_model(*command, globals);
  });
}

}  // namespace tessera::app
