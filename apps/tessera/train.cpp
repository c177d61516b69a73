#include "command.h"

#include "base/highlight.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/require.h"
#include "files/files.h"
#include "memory_meter.h"
#include "option_checks.h"
#include "print_json.h"
#include "task/open_task.h"
#include "task/recipe.h"
#include "task/stored_recipe.h"
#include "tensor/device.h"
#include "tensor/profiler.h"
#include "train/schedule.h"
#include "train/trainer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace tessera::app {
namespace {

struct TrainArguments {
  std::filesystem::path recipe;
  std::filesystem::path resume;
  std::vector<std::string> overrides;
  bool dry_run = false;
  std::filesystem::path profile;
  bool dump = false;
};

// Updates of a dry run: until every shape has been seen (CUDA records each), then to be timed, then
// to be looked at one by one.
struct Trial {
  int64_t warm_up, timed, profiled;
};
constexpr Trial kTrialCpu{4, 12, 4}, kTrialCuda{300, 200, 20};

// A run that goes on keeps what it began with, but for keys that have no part in the mathematics.
void read_stored(config::Schema& schema, const task::Recipe& recipe, const train::RunFolder& folder,
                 const std::vector<std::string>& overrides) {
  schema.read_file(folder.config());
  schema.finish();
  const auto before = schema.values();
  for (const std::string& assignment : overrides) schema.apply_override(assignment);
  schema.finish();
  std::vector<std::string> refused;
  for (const auto& [key, value] : schema.values())
    if (value != before.at(key) && !task::may_change_on_resume(key, recipe)) refused.push_back(key);
  require_option(
      refused.empty(),
      "a resumed run cannot change {}: it would no longer be the same run (start a new one, "
      "with train.init to begin from these weights)",
      fmt::join(refused, ", "));
  constexpr const char* kSteps = "train.steps";
  if (schema.values().at(kSteps) != before.at(kSteps) &&
      train::depends_on_total_steps(recipe.schedule))
    log::warn(
        "with this schedule the learning rate follows {}: from here on it is that of the changed "
        "run, up to here that of the one before",
        kSteps);
}

UsageError not_a_recipe(const std::filesystem::path& folder) {
  if (train::RunFolder::is_one(folder))
    return UsageError(fmt::format("'{}' is a run, not a recipe", folder.string()),
                      fmt::format("`tessera train --resume {}` goes on with it", folder.string()));
  return UsageError(fmt::format("'{}' is a folder, not a recipe", folder.string()),
                    "name a recipe file (.toml), or a run to go on with: --resume RUN");
}

// The recipe of a run that goes on, as far as it is carried out. A folder may come from anyone, and
// an extractor is code: it runs only where this command names it. Without it the run goes on
// without distances, unless these choose its best checkpoint.
task::Recipe without_unnamed_code(task::Recipe recipe, const std::vector<std::string>& overrides,
                                  const train::RunFolder& folder) {
  constexpr const char* kFeatures = "train.features";
  task::ImageValidation& validation = recipe.image.validation;
  const bool named =
      std::any_of(overrides.begin(), overrides.end(), [&](const std::string& assignment) {
        return config::Schema::overridden_key(assignment) == kFeatures;
      });
  if (recipe.domain != task::Domain::images || validation.samples == 0 || named) return recipe;
  const std::string untrusted = fmt::format(
      "the run measures a distance with the extractor '{}', which is code that a "
      "folder alone must not start",
      validation.features.string());
  const std::string cure =
      fmt::format("if you trust it: `tessera train --resume {} {}={}`", folder.path().string(),
                  kFeatures, validation.features.string());
  if (validation.score == task::ImageScore::distance) throw UsageError(untrusted, cure);
  log::warn("{}: it goes on without that distance; {}", untrusted, cure);
  validation.samples = 0;
  return recipe;
}

std::string parameter_count(int64_t count) {
  return count < 100000 ? fmt::format("{}", count) : fmt::format("{:.1f} M", count / 1e6);
}

// The most the process has had in memory so far, bytes.
int64_t process_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

// A title and its text, the further lines of which stand below the first.
void print_fact(const std::string& title, std::string text) {
  constexpr int kColumn = 16;
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, kColumn, ' ');
  fmt::print("{:<{}}{}\n", title, kColumn, text);
}

// Updates of a run that its checkpoints hold.
int64_t updates_made(const train::RunFolder& folder) {
  const auto checkpoints = train::Checkpoints(folder.path()).all();
  return checkpoints.empty() ? 0 : checkpoints.back().step;
}

//   made  updates that need not be made any more
void dry_run(const task::Recipe& recipe, int64_t made, const std::filesystem::path& profile,
             const GlobalOptions& globals) {
  const at::Device device = parse_device(globals.device);
  // Data of the program's own making goes to a folder that disappears again.
  std::optional<AtomicFolder> scratch;
  if (recipe.makes_its_data()) scratch.emplace(std::filesystem::temp_directory_path());
  std::optional<MemoryMeter> meter;
  if (device.is_cuda()) meter.emplace(device);
  const auto task = task::open_task(recipe, scratch ? scratch->path() : std::filesystem::path(),
                                    task::OwnData::make, device);
  train::Trainer trainer(*task, recipe);
  trainer.begin();
  const Trial trial = device.is_cuda() ? kTrialCuda : kTrialCpu;
  const double rate = trainer.try_updates(trial.warm_up, trial.timed);
  const int64_t memory = meter ? meter->peak() : process_memory();
  const int64_t left = std::max<int64_t>(0, recipe.run.steps - made);
  const double hours = static_cast<double>(left) / rate / 3600;
  const int64_t parameters = task->model().parameters().count();
  if (globals.json) {
    nlohmann::ordered_json json{{"parameters", parameters}};
    for (const train::Fact& fact : task->facts()) json[fact.key] = fact.value;
    json.update({{"memory_bytes", memory},
                 {"step_seconds", 1 / rate},
                 {"updates_per_second", rate},
                 {"hours", hours}});
    print_json(json);
    return;
  }
  print_fact("parameters", parameter_count(parameters));
  for (const train::Fact& fact : task->facts())
    if (!fact.title.empty()) print_fact(fact.title, fact.text);
  print_fact("memory",
             fmt::format("{:.2f} GiB at most, on {}", memory / 1073741824.0, device.str()));
  print_fact("step", fmt::format("{:.1f} ms: {:.2f} updates/s", 1000 / rate, rate));
  print_fact(
      made > 0 ? "rest of the run" : "whole run",
      fmt::format("{} updates in {}, validation not counted", left, duration_text(3600 * hours)));
  if (profile.empty()) return;
  Profiler profiler(device);
  trainer.try_updates(0, trial.profiled);
  fmt::print("\n{} updates: {}", trial.profiled, profiler.finish(profile).table());
}

// What a person wants to know of a training that is over.
//   seconds  that it took; 0: there was nothing left to do
void say_what_was_reached(const train::Task& task, int64_t step, double seconds,
                          const train::RunFolder& folder) {
  const std::string run = folder.path().string();
  if (seconds > 0)
    log::info("done: {} has made {} updates; this training took {}", run, step,
              duration_text(seconds));
  else
    log::info("done: {} is complete, with {} updates", run, step);
  if (const auto best = train::Checkpoints(folder.path()).best())
    log::highlight(fmt::format("best: {} at step {}, kept in {}", task.score_text(*best->score),
                               best->step, (folder.path() / "best").string()));
  const char* title = "next:";
  for (const std::string& command : task.next_commands(folder.path()))
    log::info("{:<5} {}", std::exchange(title, ""), command);
}

void train_in(const train::Task& task, train::Trainer& trainer, const train::RunFolder& folder,
              const train::StopSignal& stop) {
  std::string facts;
  for (const train::Fact& fact : task.facts())
    if (fact.value.is_number() && fact.title == fact.key)
      facts += fmt::format(", {} {}", fact.value.dump(), fact.title);
  log::info("{} parameters{}, {}", parameter_count(task.model().parameters().count()), facts,
            task.model().device().str());
  try {
    const double seconds = trainer.run(folder, stop);
    say_what_was_reached(task, trainer.step(), seconds, folder);
  } catch (const train::Stopped&) {
    log::info("what was learnt is saved: `tessera train --resume {}` goes on",
              folder.path().string());
    throw;
  }
}

void start(const task::Recipe& recipe, const GlobalOptions& globals) {
  require_option(!recipe.run.out.empty(), "train.out is missing: name a folder for the run");
  const train::StopSignal stop;
  train::RunFolder folder = train::RunFolder::create(recipe.run.out);
  std::unique_ptr<train::Task> task;
  std::optional<train::Trainer> trainer;
  try {
    // From here on the run can be resumed, whenever it is killed; but one that cannot begin is
    // none.
    folder.write_config(task::stored_text(recipe, folder.path()));
    task =
        task::open_task(recipe, folder.path(), task::OwnData::make, parse_device(globals.device));
    trainer.emplace(*task, recipe);
    trainer->begin();
  } catch (...) {
    folder.abandon();
    throw;
  }
  train_in(*task, *trainer, folder, stop);
}

//   recipe       what the run keeps
//   carried_out  what this command does of it
void resume(train::RunFolder& folder, const task::Recipe& recipe, const task::Recipe& carried_out,
            const GlobalOptions& globals) {
  const train::StopSignal stop;
  folder.lock();
  const int64_t made = updates_made(folder);
  require_option(recipe.run.steps >= made,
                 "the run has made {} updates already: train.steps cannot become {}", made,
                 recipe.run.steps);
  if (!recipe.makes_its_data()) task::data_folder(recipe, folder.path());
  const auto task = task::open_task(carried_out, folder.path(), task::OwnData::keep,
                                    parse_device(globals.device));
  train::Trainer trainer(*task, carried_out);
  trainer.begin(folder);
  // What was overridden fits: it stays so.
  folder.write_config(task::stored_text(recipe, folder.path()));
  train_in(*task, trainer, folder, stop);
}

void train_model(const TrainArguments& arguments, const GlobalOptions& globals) {
  std::optional<train::RunFolder> folder;
  if (!arguments.resume.empty()) folder.emplace(train::RunFolder::open(arguments.resume));
  require_option(folder || !arguments.recipe.empty(),
                 "name a recipe, or a run to go on with: --resume RUN");
  if (std::error_code ignored; std::filesystem::is_directory(arguments.recipe, ignored))
    throw not_a_recipe(arguments.recipe);
  task::Recipe recipe = folder ? task::Recipe(task::domain_of(folder->config()))
                               : task::begin_recipe(arguments.recipe, arguments.overrides);
  recipe.run.seed = globals.seed;
  config::Schema schema;
  declare(schema, recipe);
  if (folder) {
    read_stored(schema, recipe, *folder, task::spelt_out(arguments.overrides));
  } else {
    schema.read_file(arguments.recipe);
    for (const std::string& assignment : arguments.overrides) schema.apply_override(assignment);
    schema.finish();
  }
  require_option(arguments.profile.empty() || arguments.dry_run, "--profile needs --dry-run");
  if (arguments.dump) {
    fmt::print("{}", schema.dump());
    return;
  }
  const task::Recipe carried_out =
      folder ? without_unnamed_code(recipe, arguments.overrides, *folder) : recipe;
  if (arguments.dry_run)
    return dry_run(carried_out, folder ? updates_made(*folder) : 0, arguments.profile, globals);

  if (folder) return resume(*folder, recipe, carried_out, globals);
  start(recipe, globals);
}

}  // namespace

void add_train(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* command = program.add_subcommand(
      "train", "train a model from a recipe, or resume a run that was stopped");
  auto arguments = std::make_shared<TrainArguments>();
  command->add_option("--resume", arguments->resume, "folder of a run to resume")
      ->option_text("RUN");
  command->add_flag(
      "--dry-run", arguments->dry_run,
      "estimate what the run would cost (parameters, memory, time), without writing anything");
  command
      ->add_option("--profile", arguments->profile,
                   "with --dry-run: profile an update, and write a trace for chrome://tracing")
      ->check(file_to_write())
      ->option_text("FILE");
  command->add_flag("--dump-config", arguments->dump, "print the configuration in effect as TOML");
  command
      ->add_option("recipe", arguments->overrides,
                   "recipe file, then key=value overrides (see `tessera options`)")
      ->option_text("RECIPE key=value...");
  command->callback([arguments, &globals] {
    // The first word is the recipe, unless a run is resumed or the recipe was forgotten.
    if (arguments->resume.empty() && !arguments->overrides.empty() &&
        (arguments->overrides.front().find('=') == std::string::npos ||
         std::filesystem::exists(arguments->overrides.front()))) {
      arguments->recipe = arguments->overrides.front();
      arguments->overrides.erase(arguments->overrides.begin());
    }
    train_model(*arguments, globals);
  });
}

}  // namespace tessera::app
