#include "task/recipe.h"

#include "base/require.h"

#include <fmt/format.h>

#include <optional>
#include <set>

namespace tessera::task {
namespace {

void declare_domain(config::Schema& schema, Domain& domain) {
  schema.option("data.kind", domain, "what is learnt; it decides which other keys there are");
}

void declare_text(config::Schema& schema, Recipe& recipe) {
  declare_data(schema, recipe.text.data);
  model::declare(schema, recipe.text.model);
  train::declare(schema, recipe);
  declare_validation(schema, recipe.text);
  model::declare(schema, recipe.text.generate);
}

void declare_images(config::Schema& schema, Recipe& recipe) {
  declare_data(schema, recipe.image.data);
  imaging::declare(schema, recipe.image.model);
  train::declare(schema, recipe);
  declare_validation(schema, recipe.image.validation);
  imaging::declare(schema, recipe.image.sampling);
}

}  // namespace

Recipe::Recipe(Domain kind) : domain(kind) {
  if (domain == Domain::text) return;
  learner.adamw.beta2 = 0.99;
  learner.adamw.weight_decay = 0;
  learner.ema = 0.9999;
  schedule.kind = train::ScheduleKind::constant;
  schedule.learning_rate = 1e-4;
}

namespace {

// What a file with overrides says of a key, if anything.
template <class E>
std::optional<E> told(const std::string& key, const std::filesystem::path& file,
                      std::span<const std::string> overrides) {
  E value{};
  config::Schema schema;  // which knows one key, and whose complaints nobody hears
  schema.option(key, value, "");
  if (!file.empty()) schema.read_file(file);
  for (const std::string& assignment : overrides) schema.apply_override(assignment);
  const auto read = schema.read_so_far(key);
  return read ? std::optional(parse_name<E>(std::get<std::string>(*read))) : std::nullopt;
}

constexpr const char* kPreset = "generate.preset";

}  // namespace

Domain domain_of(const std::filesystem::path& file, std::span<const std::string> overrides) {
  return told<Domain>("data.kind", file, overrides).value_or(Domain::text);
}

Recipe begin_recipe(const std::filesystem::path& file, std::span<const std::string> overrides) {
  Recipe recipe(domain_of(file, overrides));
  if (recipe.domain != Domain::text) return recipe;
  const auto preset = told<model::Preset>(kPreset, file, overrides);
  if (!preset) return recipe;
  require_option(
      told<model::ModelKind>("model.kind", file, overrides) != model::ModelKind::autoregressive,
      "{} is not for autoregressive models: they have generate.beam", kPreset);
  model::use_preset(recipe.text.generate, *preset);
  return recipe;
}

std::vector<std::string> spelt_out(std::span<const std::string> overrides) {
  std::vector<std::string> result;
  if (const auto preset = told<model::Preset>(kPreset, {}, overrides)) {
    model::GenerationOptions options;
    model::use_preset(options, *preset);
    result = {fmt::format("generate.lengths={}", options.lengths),
              fmt::format("generate.noises={}", options.noises),
              fmt::format("generate.selection={}", name_of(options.selection)),
              fmt::format("sampler.steps={}", options.sampler.steps)};
  }
  result.insert(result.end(), overrides.begin(), overrides.end());
  return result;
}

void declare(config::Schema& schema, Recipe& recipe) {
  declare_domain(schema, recipe.domain);
  recipe.domain == Domain::text ? declare_text(schema, recipe) : declare_images(schema, recipe);
}

bool may_change_on_resume(const std::string& key, const Recipe& recipe) {
  static const std::set<std::string> free{
      "data.dir",       "train.validate_sentences", "train.validate_samples", "train.show_images",
      "train.features", "train.statistics",         "train.validate_images"};
  // Scores must be of one kind, to be compared with those from before.
  if (key == "train.score") return false;
  if (key == "train.validate_sentences" && recipe.text.validate_sentences == 0)
    return recipe.text.score == TextScore::loss;
  if (key == "train.validate_samples") return recipe.image.validation.score == ImageScore::loss;
  return free.contains(key) || key.starts_with("generate.") || key.starts_with("sample.") ||
         key.starts_with("sampler.") || train::may_change_on_resume(key);
}

}  // namespace tessera::task
