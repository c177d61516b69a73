#include <tessera/task/training.h>

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "ranks/group.h"
#include "task/open_task.h"
#include "task/recipe.h"
#include "task/resumption.h"
#include "task/stored_recipe.h"
#include "task/trial.h"
#include "tensor/device.h"
#include "train/device_switches.h"
#include "train/run_folder.h"
#include "train/trainer.h"

#include <tessera/version.h>

#include <fmt/format.h>

#include <algorithm>

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

// Processes of a machine take a GPU each, in turn if there are fewer.
at::Device device_of(const TrainingRequest& request) {
  const at::Device device = parse_device(request.device);
  if (!device.is_cuda() || request.ranks.local_size == 1) return device;
  require_option(
      !request.device.starts_with("cuda:"),
      "device '{}' is one, and {} processes on this machine train: use auto or cuda, and "
      "each takes its own",
      request.device, request.ranks.local_size);
  const int count = cuda_device_count(), index = request.ranks.local_rank % count;
  if (request.ranks.local_size > count && request.ranks.local_rank == 0)
    log::warn("{} processes share {} GPUs: each gets a part of one", request.ranks.local_size,
              count);
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
}

// All processes train the same: the same configuration, of the same version.
void require_equal_requests(ranks::Group& group, const std::string& config, bool resumes) {
  if (group.alone()) return;
  const std::string mine = fmt::format("{}\n{}\n{}", version(), resumes, config);
  const std::vector<std::string> all = group.gather(mine);
  for (size_t k = 1; k < all.size(); ++k) {
    if (all[k] == all.front()) continue;
    const auto [here, there] =
        std::mismatch(all.front().begin(), all.front().end(), all[k].begin(), all[k].end());
    // The whole line that differs first.
    const auto line = [](const std::string& text, auto place) {
      const auto at = static_cast<size_t>(place - text.begin());
      const size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
      const size_t begin = newline == std::string::npos ? 0 : newline + 1;
      return text.substr(begin, text.find('\n', begin) - begin);
    };
    throw UsageError(
        fmt::format("process {} was started with another configuration than process 0: '{}' and "
                    "'{}'",
                    k, line(all[k], there), line(all.front(), here)),
        "give all processes the same command, and a run folder that all can read");
  }
}

void require_equal_data(ranks::Group& group, const train::Task& task) {
  const std::vector<std::string> all = group.gather(task.fingerprint());
  for (size_t k = 1; k < all.size(); ++k)
    require(all[k] == all.front(), "process {} has other data than process 0 in '{}'", k,
            task.data().string());
}

void say_what_it_trains(const train::Task& task, const ranks::Group& group) {
  std::string facts;
  for (const train::Fact& fact : task.facts())
    if (fact.value.is_number() && fact.title == fact.key)
      facts += fmt::format(", {} {}", with_commas(fact.value.get<int64_t>()), fact.title);
  log::info("{} parameters{}, {}{}", short_count(task.model().parameters().count()), facts,
            task.model().device().str(),
            group.alone() ? "" : fmt::format(", {} processes", group.size()));
}

}  // namespace

struct Training::State {
  explicit State(TrainingRequest the_request)
      : request(std::move(the_request)), recipe(recipe_of(request)) {
    const std::filesystem::path out = recipe.run.out;
    if (!request.or_resume || resumes() || out.empty() || !RunFolder::is_one(out)) return;
    request.resume = out;
    recipe = task::continued_recipe(RunFolder::open(out), std::move(recipe));
  }

  TrainingRequest request;
  Recipe recipe;  // what the run keeps

  bool resumes() const { return !request.resume.empty(); }

  std::string config() const {
    Recipe declared = recipe;
    config::Schema schema;
    declare(schema, declared);
    return schema.dump();
  }

  // The recipe as it is carried out now.
  Recipe carried_out() const {
    // What a recipe names, the user has named.
    const bool named = !request.recipe.empty() || !request.recipe_text.empty();
    return resumes() && !named ? task::without_unnamed_code(recipe, RunFolder::open(request.resume),
                                                            request.overrides)
                               : recipe;
  }

  TrainingResult start(const std::stop_token& stop, const OnTrainingProgress& on_progress) const;
  TrainingResult resume(const std::stop_token& stop, const OnTrainingProgress& on_progress) const;
};

namespace {

// Opens the task in all processes. Data that the program makes is made by process 0.
std::unique_ptr<train::Task> open_together(ranks::Group& group, const Recipe& recipe,
                                           const RunFolder& folder, task::OwnData mode,
                                           at::Device device) {
  std::unique_ptr<train::Task> task;
  const auto open = [&] {
    const task::OwnData own = group.first() ? mode : task::OwnData::keep;
    task = task::open_task(recipe, folder.path(), own, device, group);
  };
  recipe.makes_its_data() ? ranks::first_then_others(group, open) : ranks::together(group, open);
  require_equal_data(group, *task);
  return task;
}

TrainingResult train_in(const RunFolder& folder, const train::Task& task, train::Trainer& trainer,
                        ranks::Group& group, const std::stop_token& stop,
                        const OnTrainingProgress& on_progress) {
  if (group.first()) say_what_it_trains(task, group);
  const train::TrainingEnd end = trainer.run(folder, stop, on_progress);
  TrainingResult result{.run = folder.path(),
                        .stopped = end.stopped,
                        .steps = trainer.step(),
                        .seconds = end.seconds,
                        .best = {},
                        .next_commands = task.next_commands(folder.path())};
  if (!group.first()) return result;
  if (const auto best = train::Checkpoints(folder.path()).best())
    result.best = {best->step, *best->score, task.score_text(*best->score)};
  return result;
}

}  // namespace

TrainingResult Training::State::start(const std::stop_token& stop,
                                      const OnTrainingProgress& on_progress) const {
  require_option(!recipe.run.out.empty(), "train.out is missing: name a folder for the run");
  const at::Device device = device_of(request);
  const auto group = ranks::meet(request.ranks, device);
  require_equal_requests(*group, config(), resumes());
  std::optional<RunFolder> folder;
  std::optional<train::DeviceSwitches> switches;
  std::unique_ptr<train::Task> task;
  std::optional<train::Trainer> trainer;
  try {
    // From here on the run can be resumed, whenever it is killed.
    ranks::together(*group, [&] {
      folder.emplace(group->first() ? RunFolder::create(recipe.run.out)
                                    : RunFolder::of_another_process(recipe.run.out));
      if (group->first()) folder->write_config(task::stored_text(recipe, folder->path()));
    });
    switches.emplace(device, recipe.run.deterministic);
    task = open_together(*group, recipe, *folder, task::OwnData::make, device);
    trainer.emplace(*task, recipe, *group);
    trainer->begin();
  } catch (...) {  // a run that cannot begin is removed
    if (folder && group->first()) folder->abandon();
    throw;
  }
  return train_in(*folder, *task, *trainer, *group, stop, on_progress);
}

TrainingResult Training::State::resume(const std::stop_token& stop,
                                       const OnTrainingProgress& on_progress) const {
  const Recipe now = carried_out();
  const at::Device device = device_of(request);
  const auto group = ranks::meet(request.ranks, device);
  require_equal_requests(*group, config(), resumes());
  RunFolder folder = RunFolder::open(request.resume);
  ranks::together(*group, [&] {
    if (group->first()) folder.lock();
    const int64_t made = task::updates_made(folder);
    require_option(recipe.run.steps >= made,
                   "the run has made {} updates already: train.steps cannot become {}", made,
                   recipe.run.steps);
    if (!recipe.makes_its_data()) task::data_folder(recipe, folder.path());
  });
  const train::DeviceSwitches switches(device, recipe.run.deterministic);
  const auto task = open_together(*group, now, folder, task::OwnData::keep, device);
  train::Trainer trainer(*task, now, *group);
  trainer.begin(folder);
  // The overrides fit the run, so they are stored.
  if (group->first()) folder.write_config(task::stored_text(recipe, folder.path()));
  return train_in(folder, *task, trainer, *group, stop, on_progress);
}

Training::Training(TrainingRequest request)
    : state_(std::make_unique<const State>(std::move(request))) {}
Training::~Training() = default;
Training::Training(Training&&) noexcept = default;
Training& Training::operator=(Training&&) noexcept = default;

std::string Training::config() const {
  return state_->config();
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
