#include <tessera/task/training.h>

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "task/open_task.h"
#include "task/recipe.h"
#include "task/resumption.h"
#include "task/stored_recipe.h"
#include "task/trial.h"
#include "tensor/device.h"
#include "train/device_switches.h"
#include "train/run_folder.h"
#include "train/trainer.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace tessera {
namespace {

using task::Recipe;
using train::RunFolder;

Recipe new_recipe(const TrainingRequest& request) {
  task::RecipeSource source(request.methods);
  source.text = request.recipe_text;
  if (!request.recipe.empty()) source.files.insert(source.files.begin(), request.recipe);
  Recipe recipe = task::begin_recipe(source, request.overrides);
  recipe.run.seed = request.seed;
  config::Schema schema;
  declare(schema, recipe);
  source.read(schema);
  for (const std::string& assignment : request.overrides) schema.apply_override(assignment);
  schema.finish();
  for (const std::string& warning : schema.warnings()) log::warn("{}", warning);
  return recipe;
}

Recipe recipe_of(const TrainingRequest& request) {
  require_option(
      !request.recipe.empty() + !request.recipe_text.empty() + !request.resume.empty() == 1,
      "a training is of a recipe (a file or a text), or of a run to go on with: name one of them");
  require_option(request.resume.empty() || request.methods.empty(),
                 "a run that goes on keeps the configuration it was begun with: it takes no "
                 "recipes, only key=value");
  return request.resume.empty() ? new_recipe(request)
                                : task::resumed_recipe(RunFolder::open(request.resume),
                                                       request.overrides, request.seed);
}

void say_what_it_trains(const train::Task& task) {
  std::string facts;
  for (const train::Fact& fact : task.facts())
    if (fact.value.is_number() && fact.title == fact.key)
      facts += fmt::format(", {} {}", with_commas(fact.value.get<int64_t>()), fact.title);
  log::info("{} parameters{}, {}", short_count(task.model().parameters().count()), facts,
            task.model().device().str());
}

}  // namespace

struct Training::State {
  explicit State(TrainingRequest the_request)
      : request(std::move(the_request)), recipe(recipe_of(request)) {}

  TrainingRequest request;
  Recipe recipe;  // what the run keeps

  bool resumes() const { return !request.resume.empty(); }

  // The recipe as it is carried out now.
  Recipe carried_out() const {
    return resumes() ? task::without_unnamed_code(recipe, RunFolder::open(request.resume),
                                                  request.overrides)
                     : recipe;
  }

  TrainingResult start(const std::stop_token& stop, const OnTrainingProgress& on_progress) const;
  TrainingResult resume(const std::stop_token& stop, const OnTrainingProgress& on_progress) const;
};

namespace {

TrainingResult train_in(const RunFolder& folder, const train::Task& task, train::Trainer& trainer,
                        const std::stop_token& stop, const OnTrainingProgress& on_progress) {
  say_what_it_trains(task);
  const train::TrainingEnd end = trainer.run(folder, stop, on_progress);
  TrainingResult result{.run = folder.path(),
                        .stopped = end.stopped,
                        .steps = trainer.step(),
                        .seconds = end.seconds,
                        .best = {},
                        .next_commands = task.next_commands(folder.path())};
  if (const auto best = train::Checkpoints(folder.path()).best())
    result.best = {best->step, *best->score, task.score_text(*best->score)};
  return result;
}

}  // namespace

TrainingResult Training::State::start(const std::stop_token& stop,
                                      const OnTrainingProgress& on_progress) const {
  require_option(!recipe.run.out.empty(), "train.out is missing: name a folder for the run");
  RunFolder folder = RunFolder::create(recipe.run.out);
  std::optional<train::DeviceSwitches> switches;
  std::unique_ptr<train::Task> task;
  std::optional<train::Trainer> trainer;
  try {
    // From here on the run can be resumed, whenever it is killed. A run that cannot begin is
    // removed.
    folder.write_config(task::stored_text(recipe, folder.path()));
    const at::Device device = parse_device(request.device);
    switches.emplace(device, recipe.run.deterministic);
    task = task::open_task(recipe, folder.path(), task::OwnData::make, device);
    trainer.emplace(*task, recipe);
    trainer->begin();
  } catch (...) {
    folder.abandon();
    throw;
  }
  return train_in(folder, *task, *trainer, stop, on_progress);
}

TrainingResult Training::State::resume(const std::stop_token& stop,
                                       const OnTrainingProgress& on_progress) const {
  const Recipe now = carried_out();
  RunFolder folder = RunFolder::open(request.resume);
  folder.lock();
  const int64_t made = task::updates_made(folder);
  require_option(recipe.run.steps >= made,
                 "the run has made {} updates already: train.steps cannot become {}", made,
                 recipe.run.steps);
  if (!recipe.makes_its_data()) task::data_folder(recipe, folder.path());
  const at::Device device = parse_device(request.device);
  const train::DeviceSwitches switches(device, recipe.run.deterministic);
  const auto task = task::open_task(now, folder.path(), task::OwnData::keep, device);
  train::Trainer trainer(*task, now);
  trainer.begin(folder);
  // The overrides fit the run, so they are stored.
  folder.write_config(task::stored_text(recipe, folder.path()));
  return train_in(folder, *task, trainer, stop, on_progress);
}

Training::Training(TrainingRequest request)
    : state_(std::make_unique<const State>(std::move(request))) {}
Training::~Training() = default;
Training::Training(Training&&) noexcept = default;
Training& Training::operator=(Training&&) noexcept = default;

std::string Training::config() const {
  Recipe recipe = state_->recipe;
  config::Schema schema;
  declare(schema, recipe);
  return schema.dump();
}

bool Training::deterministic() const {
  return state_->recipe.run.deterministic;
}

TrainingCost Training::estimate(const std::filesystem::path& trace) const {
  const Recipe recipe = state_->carried_out();
  const int64_t made =
      state_->resumes() ? task::updates_made(RunFolder::open(state_->request.resume)) : 0;
  return task::try_training(recipe, made, parse_device(state_->request.device), trace);
}

TrainingResult Training::run(const std::stop_token& stop,
                             const OnTrainingProgress& on_progress) const {
  return state_->resumes() ? state_->resume(stop, on_progress) : state_->start(stop, on_progress);
}

}  // namespace tessera
