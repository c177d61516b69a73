#include "command.h"

#include "base/device.h"
#include "base/log.h"
#include "base/profiler.h"
#include "base/progress.h"
#include "base/require.h"
#include "memory_meter.h"
#include "text/tiny_task.h"
#include "train/trainer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <sys/resource.h>

#include <memory>
#include <optional>

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
void read_stored(config::Schema& schema, const train::Recipe& recipe,
                 const train::RunFolder& folder, const std::vector<std::string>& overrides) {
  schema.read_file(folder.config());
  schema.finish();
  const auto before = schema.values();
  for (const std::string& assignment : overrides) schema.apply_override(assignment);
  schema.finish();
  std::vector<std::string> refused;
  for (const auto& [key, value] : schema.values())
    if (value != before.at(key) && !train::may_change_on_resume(key, recipe.schedule))
      refused.push_back(key);
  require_option(
      refused.empty(),
      "a resumed run cannot change {}: it would no longer be the same run (start a new one, "
      "with train.init to begin from these weights)",
      fmt::join(refused, ", "));
}

// The corpus of a run; one the program makes itself is new, or as it is there.
enum class OwnCorpus { make, keep };

text::Corpus open_corpus(const train::Recipe& recipe, const std::filesystem::path& run,
                         OwnCorpus mode) {
  const std::filesystem::path folder = train::corpus_folder(recipe.data, run);
  if (recipe.data.task == train::DataTask::none) {
    require_option(!folder.empty(),
                   "data.dir is missing: name a folder that `tessera prepare` wrote");
  } else if (mode == OwnCorpus::make || !std::filesystem::exists(folder)) {
    // One that is there before the run is the rest of a run that did not begin, of other options
    // maybe. A run that was killed while it was made has none.
    text::make_tiny_corpus(folder, recipe.run.seed, recipe.data.pairs,
                           text::CorpusWriter::Existing::replace);
  }
  return text::Corpus::open(folder);
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

void dry_run(const train::Recipe& recipe, const std::filesystem::path& profile,
             const GlobalOptions& globals) {
  const at::Device device = parse_device(globals.device);
  // A corpus of the program's own making goes to a folder that disappears again.
  std::optional<AtomicFolder> scratch;
  if (recipe.data.task != train::DataTask::none)
    scratch.emplace(std::filesystem::temp_directory_path());
  const text::Corpus corpus =
      open_corpus(recipe, scratch ? scratch->path() : std::filesystem::path(), OwnCorpus::make);
  std::optional<MemoryMeter> meter;
  if (device.is_cuda()) meter.emplace(device);
  train::Trainer trainer(recipe, corpus, device);
  trainer.begin();
  const Trial trial = device.is_cuda() ? kTrialCuda : kTrialCpu;
  const double rate = trainer.try_updates(trial.warm_up, trial.timed);
  const int64_t memory = meter ? meter->peak() : process_memory();
  const double hours = static_cast<double>(recipe.run.steps) / rate / 3600;
  const auto& batcher = trainer.batcher();
  if (globals.json) {
    nlohmann::ordered_json shapes = nlohmann::ordered_json::array();
    for (const auto& shape : batcher.shapes())
      shapes.push_back({shape.rows, shape.source, shape.target});
    fmt::print("{}\n", nlohmann::ordered_json{{"parameters", trainer.model().parameters().count()},
                                              {"symbols", corpus.tokenizer().dictionary().size()},
                                              {"batches_per_epoch", batcher.batches(0)},
                                              {"shapes", shapes},
                                              {"memory_bytes", memory},
                                              {"step_seconds", 1 / rate},
                                              {"updates_per_second", rate},
                                              {"hours", hours}}
                           .dump(2));
    return;
  }
  fmt::print("parameters      {} ({} symbols)\n",
             parameter_count(trainer.model().parameters().count()),
             corpus.tokenizer().dictionary().size());
  fmt::print("epoch           {} batches in {} shapes\n", batcher.batches(0),
             batcher.shapes().size());
  for (const auto& shape : batcher.shapes())
    fmt::print("                {} sentences x {} source, {} target\n", shape.rows, shape.source,
               shape.target);
  fmt::print("memory          {:.2f} GiB at most, on {}\n", memory / 1073741824.0, device.str());
  fmt::print("step            {:.1f} ms: {:.2f} updates/s\n", 1000 / rate, rate);
  fmt::print("whole run       {} updates in {}, validation not counted\n", recipe.run.steps,
             duration_text(3600 * hours));
  if (profile.empty()) return;
  Profiler profiler(device);
  trainer.try_updates(0, trial.profiled);
  fmt::print("\n{} updates: {}", trial.profiled, profiler.finish(profile).table());
}

void train_in(train::Trainer& trainer, const text::Corpus& corpus, const train::RunFolder& folder,
              const train::StopSignal& stop) {
  log::info("{} parameters, {} symbols, {} pairs, {}",
            parameter_count(trainer.model().parameters().count()),
            corpus.tokenizer().dictionary().size(), corpus.split("train").size(),
            trainer.model().device().str());
  trainer.run(folder, stop);
}

void start(const config::Schema& schema, const train::Recipe& recipe,
           const GlobalOptions& globals) {
  require_option(!recipe.run.out.empty(), "train.out is missing: name a folder for the run");
  const train::StopSignal stop;
  const train::RunFolder folder = train::RunFolder::create(recipe.run.out);
  require(train::Checkpoints(folder.path()).all().empty(),
          "'{}' holds checkpoints of a run that has lost its config.toml: choose another folder "
          "(train.out)",
          folder.path().string());
  // From here on the run can be resumed, whenever it is killed; but one that cannot begin is none.
  folder.write_config(schema.dump());
  std::optional<text::Corpus> corpus;
  std::optional<train::Trainer> trainer;
  try {
    corpus.emplace(open_corpus(recipe, folder.path(), OwnCorpus::make));
    trainer.emplace(recipe, *corpus, parse_device(globals.device));
    trainer->begin();
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(folder.config(), ignored);
    throw;
  }
  train_in(*trainer, *corpus, folder, stop);
}

void resume(train::RunFolder& folder, const config::Schema& schema, const train::Recipe& recipe,
            const GlobalOptions& globals) {
  const train::StopSignal stop;
  folder.lock();
  const text::Corpus corpus = open_corpus(recipe, folder.path(), OwnCorpus::keep);
  train::Trainer trainer(recipe, corpus, parse_device(globals.device));
  trainer.begin(folder);
  folder.write_config(schema.dump());  // what was overridden fits: it stays so
  train_in(trainer, corpus, folder, stop);
}

void train_model(const TrainArguments& arguments, const GlobalOptions& globals) {
  train::Recipe recipe;
  recipe.run.seed = globals.seed;
  config::Schema schema;
  declare(schema, recipe);

  std::optional<train::RunFolder> folder;
  if (!arguments.resume.empty()) {
    folder.emplace(train::RunFolder::open(arguments.resume));
    read_stored(schema, recipe, *folder, arguments.overrides);
  } else {
    require_option(!arguments.recipe.empty(),
                   "name a recipe, or a run to go on with: --resume RUN");
    schema.read_file(arguments.recipe);
    for (const std::string& assignment : arguments.overrides) schema.apply_override(assignment);
    schema.finish();
  }
  require_option(arguments.profile.empty() || arguments.dry_run, "--profile needs --dry-run");
  if (arguments.dump) {
    fmt::print("{}", schema.dump());
    return;
  }
  if (arguments.dry_run) return dry_run(recipe, arguments.profile, globals);

  if (folder) return resume(*folder, schema, recipe, globals);
  start(schema, recipe, globals);
}

}  // namespace

void add_train(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* command = program.add_subcommand(
      "train", "train a model from a recipe, or go on with a run that was stopped");
  auto arguments = std::make_shared<TrainArguments>();
  command->add_option("--resume", arguments->resume, "folder of a run to go on with")
      ->option_text("RUN");
  command->add_flag("--dry-run", arguments->dry_run,
                    "say what the run would cost (parameters, memory, speed) and leave no trace");
  command
      ->add_option("--profile", arguments->profile,
                   "with --dry-run: where the time of an update goes, and a trace of it for "
                   "chrome://tracing")
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
