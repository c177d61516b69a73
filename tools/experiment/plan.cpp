#include "experiment/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/log.h"
#include "base/nearest_name.h"
#include "base/require.h"
#include "config/option_text.h"
#include "corpus/manifest.h"
#include "experiment/columns.h"
#include "files/checkpoint_manifest.h"
#include "files/files.h"
#include "files/hash.h"
#include "files/model_files.h"
#include "image/manifest.h"
#include "task/recipe.h"
#include "train/checkpoints.h"

namespace tessera::experiment {
namespace {

namespace fs = std::filesystem;

// "ours (OT)" as part of a file's name.
std::string file_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) || c == '-' || c == '_' || c == '.' ? c : '_';
  }
  return name;
}

// "multi30k-vp" for multi30k.toml and methods/vp.toml.
std::string run_name(const std::vector<fs::path>& recipes) {
  std::string name;
  for (const fs::path& recipe : recipes)
    name += (name.empty() ? "" : "-") + file_name(recipe.stem().string());
  return name;
}

std::string short_key(const std::string& key) {
  return key.substr(0, 8);
}

// The name of a job. `end` has all that matters: existing files with this end are used again, even
// if the recipes in their name are others (a recipe may have been renamed).
//   folder  where its files are
//   ending  of these
std::string job_name(const std::string& recipes, const std::string& end, const fs::path& folder,
                     const std::string& ending = "") {
  std::error_code ignored;
  if (is_there(folder / (recipes + end + ending))) return recipes + end;
  std::set<std::string> kept;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > (end + ending).size() && name.ends_with(end + ending))
      kept.insert(name.substr(0, name.size() - ending.size()));
  }
  return kept.empty() ? recipes + end : *kept.begin();
}

constexpr const char* kFeatures = "train.features";

// Keys and options that say where something lies. They do not affect what is trained or measured.
const std::set<std::string> kPlaces{"train.out",        "data.dir",   kFeatures,
                                    "train.statistics", "--features", "--stats"};

// "--features=x.pt" as two words, like "--features x.pt".
std::vector<std::string> with_places_apart(const std::vector<std::string>& options) {
  std::vector<std::string> words;
  for (const std::string& option : options) {
    const size_t equals = std::min(option.find('='), option.size());
    words.push_back(option);
    if (equals == option.size() || !kPlaces.contains(option.substr(0, equals)) ||
        !option.starts_with("--"))
      continue;
    words.back().resize(equals);
    words.push_back(option.substr(equals + 1));
  }
  return words;
}

// A recipe with a model's overrides.
struct Settings {
  task::Recipe recipe;
  std::string text;  // settings that are not the defaults, one a line, without places and seed
};

// Throws for overrides that would make a run differ from what its key says.
void require_no_places(const Model& model) {
  static const std::set<std::string> places{"train.seed", "train.out", "data.dir"};
  for (const std::string& assignment : model.overrides) {
    const std::string key = config::Schema::overridden_key(assignment);
    require_option(!places.contains(key),
                   "{}: the model '{}' cannot override {}: it follows from seeds, data and --out",
                   model.where, model.name, key);
  }
}

Settings read_settings(const Model& model) {
  require_no_places(model);
  const task::RecipeSource source(model.recipes);
  Settings settings{task::begin_recipe(source, model.overrides), ""};
  config::Schema schema;
  declare(schema, settings.recipe);
  const auto defaults = schema.values();
  try {
    source.read(schema);
    for (const std::string& assignment : model.overrides) schema.apply_override(assignment);
    schema.finish();
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: the model '{}' cannot be trained:\n{}", model.where,
                                 model.name, error.what()),
                     error.hint());
  }
  for (const std::string& warning : schema.warnings()) log::warn("{}: {}", model.where, warning);
  for (const auto& [key, value] : schema.values())
    if (value != defaults.at(key) && !kPlaces.contains(key) && key != "train.seed")
      settings.text += fmt::format("{}={}\n", key, config::text_of(value));
  return settings;
}

// A corpus, and what identifies its contents.
struct Source {
  fs::path folder;
  std::string key;                 // of what a training depends on
  std::string contents;            // of all its files
  std::vector<size_t> needs = {};  // the job that makes it
};

std::string contents_key(const corpus::Manifest& manifest) {
  std::string text;
  for (const auto& [name, stamp] : manifest.files) text += name + " " + stamp.hash + "\n";
  return content_hash(text);
}

class Planner {
 public:
  Planner(const Table& table, const ResultStore& store, const std::map<std::string, fs::path>& data)
      : table_(table), store_(store), data_(data) {
    std::vector<std::string_view> known;
    for (const Data& each : table.data) known.push_back(each.name);
    for (const auto& [name, folder] : data)
      require_option(table.find_data(name), "--data: the table has no corpus '{}'{}", name,
                     did_you_mean(name, known));
    for (const Model& model : table.models) settings_.emplace(model.name, read_settings(model));
  }

  Plan plan() {
    for (const Cell& cell : table_.cells) {
      const Model& model = *table_.find_model(cell.model);
      std::vector<size_t>& jobs = plan_.cells.emplace_back();
      for (const uint64_t seed : model.seeds) jobs.push_back(evaluation(cell, model, seed));
    }
    return std::move(plan_);
  }

 private:
  // Equal jobs become one job.
  size_t add(Job job) {
    const auto [found, is_new] = numbers_.try_emplace(job.name, plan_.jobs.size());
    if (is_new) plan_.jobs.push_back(std::move(job));
    return found->second;
  }

  Source prepared(const fs::path& folder, const std::string& where) const {
    try {
      if (image::Manifest::is_in(folder)) {
        const std::string key = image::Manifest::load(folder).fingerprint();
        return {folder, key, key};
      }
      const corpus::Manifest manifest = corpus::Manifest::load(folder);
      return {folder, manifest.fingerprint(), contents_key(manifest)};
    } catch (const Error& error) {
      throw UsageError(fmt::format("{}: {}", where, error.what()), error.hint());
    }
  }

  Source source(const std::string& name) {
    if (const Distilled* corpus = table_.find_distilled(name)) {
      const size_t made = distillation(*corpus);
      const Job& job = plan_.jobs[made];
      return {job.folder, job.key, job.key + source(corpus->of).contents, {made}};
    }
    const Data& data = *table_.find_data(name);
    const auto given = data_.find(name);
    const fs::path folder = given == data_.end() ? data.folder : given->second;
    if (folder.empty())
      throw UsageError(fmt::format("{}: the corpus '{}' has no folder", data.where, name),
                       fmt::format("name one that `tessera prepare` wrote: --data {}=DIR", name));
    return prepared(folder, data.where);
  }

  // The corpus of a model. If it has no folder, its recipe makes it.
  Source source_of(const Model& model) {
    if (!model.data.empty()) return source(model.data);
    const task::Recipe& recipe = settings_.at(model.name).recipe;
    const bool text = recipe.domain == task::Domain::text;
    if (text && recipe.makes_its_data()) return {};
    const fs::path& folder = text ? recipe.text.data.dir : recipe.image.data.dir;
    require_option(!folder.empty(),
                   "{}: the model '{}' has no corpus: say data = \"NAME\", a corpus of [data] or "
                   "[distilled]",
                   model.where, model.name);
    return prepared(folder, model.where);
  }

  size_t training(const Model& model, uint64_t seed) {
    const Source source = source_of(model);
    Job job;
    job.kind = JobKind::training;
    job.title = fmt::format("train {}, seed {}", model.name, seed);
    job.model = model.name;
    job.seed = seed;
    job.key = content_hash(
        fmt::format("train\n{}\n{}\n{}", settings_.at(model.name).text, source.key, seed));
    // Named after the recipes: tables that share a folder may call the same model differently.
    job.name = job_name(run_name(model.recipes), fmt::format("-{}-{}", seed, short_key(job.key)),
                        store_.folder() / "runs");
    job.folder = store_.run(job.name);
    job.corpus = source.folder.empty() ? job.folder / "data" : source.folder;
    job.needs = source.needs;
    job.command = {"train"};
    for (const fs::path& recipe : model.recipes) job.command.push_back(recipe.string());
    job.resume = {"train", "--resume", job.folder.string()};
    if (!source.folder.empty()) {
      job.command.push_back("data.dir=" + source.folder.string());
      job.resume.push_back("data.dir=" + source.folder.string());
    }
    job.command.push_back("train.out=" + job.folder.string());
    job.command.push_back(fmt::format("train.seed={}", seed));
    job.command.insert(job.command.end(), model.overrides.begin(), model.overrides.end());
    // A run knows the settings it was begun with, but files may have moved.
    for (const std::string& assignment : model.overrides)
      if (const auto key = config::Schema::overridden_key(assignment);
          kPlaces.contains(key) && key != kFeatures)
        job.resume.push_back(assignment);
    // An extractor is code: a resumed run loads one only if the command names it.
    const task::Recipe& recipe = settings_.at(model.name).recipe;
    if (const fs::path& features = recipe.image.validation.features; !features.empty())
      job.resume.push_back(fmt::format("{}={}", kFeatures, features.string()));
    return add(std::move(job));
  }

  size_t distillation(const Distilled& corpus) {
    const Model& teacher = *table_.find_model(corpus.teacher);
    const size_t taught = training(teacher, teacher.seeds.front());
    const Source source = this->source(corpus.of);
    Job job;
    job.kind = JobKind::distillation;
    job.title = fmt::format("distill {} by {}", corpus.of, corpus.teacher);
    job.model = teacher.name;
    job.seed = teacher.seeds.front();
    job.key = content_hash(
        fmt::format("distill\n{}\n{}\n{}", plan_.jobs[taught].key, source.key, corpus.beam));
    job.name = fmt::format("{}-{}", file_name(corpus.name), short_key(job.key));
    job.folder = store_.corpus(job.name);
    job.needs = source.needs;
    job.needs.push_back(taught);
    job.command = {"distill", plan_.jobs[taught].folder.string(),
                   "--data",  source.folder.string(),
                   "--out",   job.folder.string(),
                   "--beam",  fmt::format("{}", corpus.beam)};
    return add(std::move(job));
  }

  // The metrics that the columns need, unless the cell asks for metrics itself.
  std::vector<std::string> metric_options(const Cell& cell) const {
    for (const std::string& option : cell.evaluate)
      if (option == "--metric" || option.starts_with("--metric=")) return {};
    std::vector<std::string> names;
    for (const Column& column : table_.columns) {
      const std::string name(metric_asked(column.key));
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    }
    if (names.empty()) return {};
    return {"--metric", fmt::format("{}", fmt::join(names, ","))};
  }

  size_t evaluation(const Cell& cell, const Model& model, uint64_t seed) {
    const size_t trained = training(model, seed);
    Job job;
    job.kind = JobKind::evaluation;
    job.title = fmt::format("evaluate {}{}, seed {}", cell.row,
                            cell.column.empty() ? "" : ", " + cell.column, seed);
    job.model = model.name;
    job.seed = seed;
    job.corpus = plan_.jobs[trained].corpus;
    job.needs = {trained};
    job.runs = {plan_.jobs[trained].folder};

    // Paths are not part of the key: a folder may be moved.
    std::string identity =
        fmt::format("evaluate\n{}\n{}", plan_.jobs[trained].key, source_of(model).contents);
    std::vector<std::string> options = metric_options(cell);
    const std::vector<std::string> given = with_places_apart(cell.evaluate);
    std::vector<std::string> asked = given;
    for (size_t k = 1; k < asked.size(); ++k)
      if (kPlaces.contains(asked[k - 1])) asked[k] = fs::path(asked[k]).filename().string();
    identity += fmt::format("\n{}\n{}", fmt::join(options, "\n"), fmt::join(asked, "\n"));
    for (std::string option : given) {
      if (const std::string named = named_model(option); !named.empty()) {
        const Model& other = *table_.find_model(named);
        const bool same =
            std::find(other.seeds.begin(), other.seeds.end(), seed) != other.seeds.end();
        const size_t helper = training(other, same ? seed : other.seeds.front());
        identity += "\n" + plan_.jobs[helper].key;
        job.needs.push_back(helper);
        job.runs.push_back(plan_.jobs[helper].folder);
        option.replace(option.find('@'), std::string::npos, plan_.jobs[helper].folder.string());
      }
      options.push_back(std::move(option));
    }
    job.key = content_hash(identity);
    job.name =
        job_name(run_name(model.recipes), fmt::format("-{}-evaluate-{}", seed, short_key(job.key)),
                 store_.folder() / "results", ".json");
    job.command = {"evaluate", plan_.jobs[trained].folder.string()};
    job.command.insert(job.command.end(), options.begin(), options.end());
    const std::vector<std::string> rest{"--data", job.corpus.string(), "--seed",
                                        fmt::format("{}", seed), "--json"};
    job.command.insert(job.command.end(), rest.begin(), rest.end());
    if (settings_.at(model.name).recipe.domain == task::Domain::text)
      job.command.insert(job.command.end(), {"--out", store_.hypotheses(job.name).string()});
    return add(std::move(job));
  }

  const Table& table_;
  const ResultStore& store_;
  const std::map<std::string, fs::path>& data_;
  std::map<std::string, Settings> settings_;  // by model
  std::map<std::string, size_t> numbers_;     // of jobs, by name
  Plan plan_;
};

// Identifies the state of a run's checkpoints without reading their files.
std::string weights_of(const fs::path& run) {
  std::string text;
  for (const train::Checkpoint& checkpoint : train::Checkpoints(run).all()) {
    const auto files = CheckpointManifest::read(checkpoint.folder).files;
    const auto weights = files.find(kModelWeightsFile);
    text += fmt::format("{} {} {}\n", checkpoint.step, checkpoint.score.value_or(0),
                        weights == files.end() ? "" : weights->second.hash);
  }
  return text;
}

}  // namespace

Plan make_plan(const Table& table, const ResultStore& store,
               const std::map<std::string, fs::path>& data) {
  return Planner(table, store, data).plan();
}

std::optional<fs::path> extractor_of(const Job& job) {
  const auto option = std::find(job.command.begin(), job.command.end(), "--features");
  if (job.kind != JobKind::evaluation || option == job.command.end()) return std::nullopt;
  return fs::path(option + 1 == job.command.end() ? "" : *(option + 1));
}

std::string result_key(const Job& job) {
  if (job.runs.empty()) return job.key;
  std::string text = job.key;
  for (const fs::path& run : job.runs) text += "\n" + weights_of(run);
  if (const auto extractor = extractor_of(job)) text += "\n" + file_hash(*extractor);
  return content_hash(text);
}

std::vector<bool> selected_jobs(const Table& table, const Plan& plan,
                                const std::vector<std::string>& only) {
  const std::vector<std::string> rows = table.rows();
  std::vector<std::string_view> known(rows.begin(), rows.end());
  for (const Model& model : table.models) known.push_back(model.name);
  for (const std::string& name : only)
    require_option(std::find(known.begin(), known.end(), name) != known.end(),
                   "--only: the table has no row or model '{}'{}", name, did_you_mean(name, known));

  std::vector<bool> selected(plan.jobs.size(), only.empty());
  const std::function<void(size_t)> select = [&](size_t job) {
    selected[job] = true;
    for (const size_t needed : plan.jobs[job].needs) select(needed);
  };
  for (size_t k = 0; k < table.cells.size(); ++k)
    for (const std::string& name : only)
      if (name == table.cells[k].row || name == table.cells[k].model)
        for (const size_t job : plan.cells[k]) select(job);
  for (size_t k = 0; k < plan.jobs.size(); ++k)  // a model that has no cell: a teacher
    if (plan.jobs[k].kind == JobKind::training &&
        std::find(only.begin(), only.end(), plan.jobs[k].model) != only.end())
      select(k);
  return selected;
}

}  // namespace tessera::experiment
